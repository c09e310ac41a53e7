// Package hostile holds the tests of whole runs of btflite under bad
// conditions: files that are made to harm it, odd file names, permissions and
// kinds of files, full disks, signals and several runs at once.
//
// docs/results/hostile.md lists the hostile files. The program is built
// once and run as a process of its own, so that status, messages, memory and
// what is left in the folder are what a user would see.
package hostile
