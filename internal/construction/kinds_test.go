package construction

import (
	"go/ast"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/tools/go/packages"
)

// A store is a database: the packages above it define the kinds in it.
func TestTheStoreKnowsNoKind(t *testing.T) {
	out, err := exec.Command("go", "list", "-f", "{{join .Imports \"\\n\"}}", module+"internal/world/store").Output()
	require.NoError(t, err)
	imports := strings.Fields(string(out))
	require.Contains(t, imports, "k8s.io/apimachinery/pkg/apis/meta/v1")
	for _, i := range imports {
		for _, of := range []string{"k8s.io/api", "k8s.io/client-go", "k8s.io/apiextensions-apiserver", "github.com/kubernetes-csi"} {
			assert.False(t, within(i, of), "internal/world/store must not import %s: code about a kind belongs to internal/api/kind", i)
		}
		if own, ok := strings.CutPrefix(i, module); ok {
			assert.Equal(t, "internal/world/objectname", own, "internal/world/store must not import code for custom resources either")
		}
	}
}

// Only the file with a kind's name registers the kind.
func TestOneKindIsOneFile(t *testing.T) {
	loaded, err := packages.Load(&packages.Config{Mode: packages.NeedName | packages.NeedFiles | packages.NeedSyntax | packages.NeedImports | packages.NeedTypes},
		module+"internal/api/kind")
	require.NoError(t, err)
	require.Len(t, loaded, 1)
	require.Empty(t, loaded[0].Errors)
	files := 0
	for _, file := range loaded[0].Syntax {
		name := strings.TrimSuffix(filepath.Base(loaded[0].Fset.Position(file.Pos()).Filename), ".go")
		kinds := registered(file)
		if len(kinds) == 0 {
			continue
		}
		files++
		if assert.Len(t, kinds, 1, "%s.go registers more than one kind", name) {
			// Csidriver_legacy.go registers the kind of that name in another group.
			kind, _, _ := strings.Cut(name, "_")
			assert.Equal(t, strings.ToLower(kinds[0]), kind, "the kind %s belongs to %s.go", kinds[0], strings.ToLower(kinds[0]))
		}
	}
	assert.Greater(t, files, 60)
}

// registered returns the names of the kinds that a file registers.
func registered(file *ast.File) (kinds []string) {
	ast.Inspect(file, func(n ast.Node) bool {
		call, ok := n.(*ast.CallExpr)
		if !ok || len(call.Args) != 1 {
			return true
		}
		if f, ok := call.Fun.(*ast.Ident); !ok || f.Name != "register" {
			return true
		}
		literal, ok := call.Args[0].(*ast.CompositeLit)
		if !ok {
			return true
		}
		for _, e := range literal.Elts {
			pair := e.(*ast.KeyValueExpr)
			if value, ok := pair.Value.(*ast.BasicLit); ok && pair.Key.(*ast.Ident).Name == "Name" {
				name, _ := strconv.Unquote(value.Value)
				kinds = append(kinds, name)
			}
		}
		return true
	})
	return kinds
}
