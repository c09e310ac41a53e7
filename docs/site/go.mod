module github.com/btflite/btflite/docs/site

go 1.26.0

require (
	github.com/btflite/btflite v0.0.0-00010101000000-000000000000
	github.com/yuin/goldmark v1.8.7
)

replace github.com/btflite/btflite => ../..
