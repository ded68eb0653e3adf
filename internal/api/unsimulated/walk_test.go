package unsimulated_test

import (
	"go/ast"
	"go/types"
	"reflect"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/tools/go/packages"
)

// readers are the packages with code that acts on objects. Validation, defaults and columns do not
// count.
var readers = []string{"fakekubelet/...", "fakecontroller/...", "internal/world/...", "internal/driver/...", "internal/judge/..."}

// fieldsRead returns the fields that the code of the readers selects, as type and name, except
// those that it only writes.
func fieldsRead(t *testing.T) map[string]bool {
	var patterns []string
	for _, r := range readers {
		patterns = append(patterns, "../../../"+r)
	}
	loaded, err := packages.Load(&packages.Config{Mode: packages.LoadSyntax}, patterns...)
	require.NoError(t, err)
	read := map[string]bool{}
	for _, p := range loaded {
		require.Empty(t, p.Errors, p.PkgPath)
		for _, file := range p.Syntax {
			selectedIn(file, p.TypesInfo, read)
		}
	}
	return read
}

func selectedIn(file *ast.File, info *types.Info, read map[string]bool) {
	written := map[ast.Expr]bool{}
	ast.Inspect(file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.AssignStmt:
			for _, to := range n.Lhs {
				written[to] = true
			}
		case *ast.SelectorExpr:
			if s := info.Selections[n]; s != nil && s.Kind() == types.FieldVal && !written[n] {
				addPath(s, read)
			}
		}
		return true
	})
}

// addPath adds the fields on the way to a selected one, through embedded structures.
func addPath(s *types.Selection, read map[string]bool) {
	of := s.Recv()
	for _, i := range s.Index() {
		if pointer, ok := of.Underlying().(*types.Pointer); ok {
			of = pointer.Elem()
		}
		structure, ok := of.Underlying().(*types.Struct)
		if !ok {
			return
		}
		if named, ok := types.Unalias(of).(*types.Named); ok && named.Obj().Pkg() != nil {
			read[named.Obj().Pkg().Path()+"."+named.Obj().Name()+"."+structure.Field(i).Name()] = true
		}
		of = structure.Field(i).Type()
	}
}

// unread lists the fields below a type that no code reads, by their JSON names. It leaves out the
// fields below such a field.
func unread(t reflect.Type, path string, read map[string]bool, seen map[reflect.Type]bool) (paths []string) {
	for t.Kind() == reflect.Pointer || t.Kind() == reflect.Slice || t.Kind() == reflect.Map {
		t = t.Elem()
	}
	if t.Kind() != reflect.Struct || seen[t] || !strings.HasPrefix(t.PkgPath(), "k8s.io/api/") && !strings.HasPrefix(t.PkgPath(), "github.com/kubernetes-csi/") {
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
		case !read[t.PkgPath()+"."+t.Name()+"."+f.Name]:
			paths = append(paths, at)
		default:
			paths = append(paths, unread(f.Type, at, read, seen)...)
		}
	}
	return paths
}
