package arena

import (
	"reflect"
	"unsafe"
)

// bound is a Vec of any type.
type bound interface{ setLimit(*Limit) }

// Bind makes l the limit of the Vec that p points to or, of a struct, of all Vecs
// in its fields and arrays, but not of those behind pointers and in slices. They
// keep it when they are freed. Bind must not be called while one of them is in use.
func Bind[T any](l *Limit, p *T) { bind(l, reflect.ValueOf(p).Elem()) }

// bind is Bind for a value that can be addressed.
//
// The argument for unsafe: the pointer points to a field of a live value, has the field's
// type, and is used to call one method.
func bind(l *Limit, v reflect.Value) {
	switch v.Kind() {
	case reflect.Struct:
		if b, ok := reflect.NewAt(v.Type(), unsafe.Pointer(v.UnsafeAddr())).Interface().(bound); ok {
			b.setLimit(l)
			return
		}
		for i := range v.NumField() {
			bind(l, v.Field(i))
		}
	case reflect.Array:
		if k := v.Type().Elem().Kind(); k == reflect.Struct || k == reflect.Array {
			for i := range v.Len() {
				bind(l, v.Index(i))
			}
		}
	}
}
