package manifest

import (
	"bytes"
	"reflect"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/runtime"

	"github.com/csisim/csisim/internal/input/strict"
)

// Copies reads n copies of a text, with the placeholder replaced by the copy's number, from 0. It
// returns the objects, or the problems of the first copy with a mistake. All copies have the line
// numbers of the text.
func Copies(source strict.Source, placeholder string, n int) ([]Object, strict.Problems) {
	number := func(i int) ([]Object, strict.Problems) {
		copied := source
		copied.Text = bytes.ReplaceAll(source.Text, []byte(placeholder), strconv.AppendInt(nil, int64(i), 10))
		return DecodeText(copied)
	}
	first, problems := number(0)
	if len(problems) > 0 {
		return nil, problems
	}
	from := templateOf(source.Text, number, n)
	objects := make([]Object, 0, n*len(first))
	for i := range n {
		more := from.copy(i)
		if from == nil {
			if more, problems = number(i); len(problems) > 0 {
				return nil, problems
			}
		}
		for j := range more {
			more[j].StandWhere(first[j])
		}
		objects = append(objects, more...)
	}
	return objects, nil
}

// template makes the copies of a text without reading it again. It consists of the objects, read
// once with a unique number, and the positions of texts that contain this number.
type template struct {
	objects []Object
	places  [][]place // of each object
	mark    string
}

// templateOf returns nil for a text if its copies differ in more than texts of typed objects.
func templateOf(text []byte, number func(int) ([]Object, strict.Problems), n int) *template {
	t := &template{}
	mark := 1_000_000_007
	for bytes.Contains(text, strconv.AppendInt(nil, int64(mark), 10)) {
		mark++
	}
	t.mark = strconv.Itoa(mark)
	objects, problems := number(mark)
	if len(problems) > 0 {
		return nil
	}
	t.objects = objects
	for _, o := range objects {
		if o.IsCustom() {
			return nil
		}
		t.places = append(t.places, placesOf(reflect.ValueOf(o.Object), t.mark, nil))
	}
	for _, i := range []int{0, min(1, n-1), n - 1} {
		if read, _ := number(i); !t.makes(i, read) {
			return nil
		}
	}
	return t
}

// makes reports whether a template's copy equals the copy that was read.
func (t *template) makes(i int, read []Object) bool {
	made := t.copy(i)
	if len(made) != len(read) {
		return false
	}
	for j := range made {
		if !reflect.DeepEqual(made[j].Object, read[j].Object) {
			return false
		}
	}
	return true
}

// copy returns the objects of one copy; nil without a template.
func (t *template) copy(i int) []Object {
	if t == nil {
		return nil
	}
	number := strconv.Itoa(i)
	objects := make([]Object, len(t.objects))
	for j, o := range t.objects {
		objects[j] = Object{Object: o.DeepCopyObject()}
		for _, at := range t.places[j] {
			at.set(objects[j].Object, t.mark, number)
		}
	}
	return objects
}

// place is the path of a text in an object: fields of structs and elements of lists, by number. It
// follows pointers.
type place []int

// placesOf returns the texts in v that contain the mark. It skips maps.
func placesOf(v reflect.Value, mark string, at place) (found []place) {
	switch v.Kind() {
	case reflect.Pointer:
		if !v.IsNil() {
			return placesOf(v.Elem(), mark, at)
		}
	case reflect.String:
		if strings.Contains(v.String(), mark) {
			return []place{at}
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() {
				found = append(found, placesOf(v.Field(i), mark, append(at[:len(at):len(at)], i))...)
			}
		}
	case reflect.Slice:
		for i := range v.Len() {
			found = append(found, placesOf(v.Index(i), mark, append(at[:len(at):len(at)], i))...)
		}
	}
	return found
}

// set replaces the mark in the text.
func (at place) set(obj runtime.Object, mark, number string) {
	v := reflect.ValueOf(obj).Elem()
	for _, i := range at {
		if v.Kind() == reflect.Pointer {
			v = v.Elem()
		}
		if v.Kind() == reflect.Slice {
			v = v.Index(i)
		} else {
			v = v.Field(i)
		}
	}
	if v.Kind() == reflect.Pointer {
		v = v.Elem()
	}
	v.SetString(strings.ReplaceAll(v.String(), mark, number))
}
