package unsimulated_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// readers are the folders with code that acts on objects. Validation, defaults and columns do not
// count.
var readers = []string{"fakekubelet", "fakecontroller", "internal/world", "internal/driver", "internal/judge"}

// fieldsRead returns the names of all fields that the code of the readers selects.
func fieldsRead(t *testing.T) map[string]bool {
	read := map[string]bool{}
	for _, folder := range readers {
		require.NoError(t, filepath.WalkDir(filepath.Join("../../..", folder), func(name string, entry fs.DirEntry, err error) error {
			if err != nil || entry.IsDir() || !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") {
				return err
			}
			file, err := parser.ParseFile(token.NewFileSet(), name, nil, 0)
			if err != nil {
				return err
			}
			ast.Inspect(file, func(n ast.Node) bool {
				if s, ok := n.(*ast.SelectorExpr); ok {
					read[s.Sel.Name] = true
				}
				return true
			})
			return nil
		}))
	}
	return read
}

// unread lists the fields below a type that no code reads, by their names in JSON. It leaves out
// the fields below such a field.
func unread(t reflect.Type, path string, read map[string]bool, seen map[reflect.Type]bool) (paths []string) {
	for t.Kind() == reflect.Pointer || t.Kind() == reflect.Slice || t.Kind() == reflect.Map {
		t = t.Elem()
	}
	if t.Kind() != reflect.Struct || seen[t] || !strings.HasPrefix(t.PkgPath(), "k8s.io/api/") {
		return nil
	}
	seen[t] = true
	defer delete(seen, t)
	for i := range t.NumField() {
		f := t.Field(i)
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		at := strings.TrimPrefix(path+"."+name, ".")
		switch {
		case f.Anonymous:
			paths = append(paths, unread(f.Type, path, read, seen)...)
		case !read[f.Name]:
			paths = append(paths, at)
		default:
			paths = append(paths, unread(f.Type, at, read, seen)...)
		}
	}
	return paths
}
