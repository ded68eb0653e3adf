// Package construction checks the project's rules by reading the code. Simulated code must not use
// real time, chance or threads, and a driver repository must have few dependencies.
package construction

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/tools/go/packages"
)

const module = "github.com/csisim/csisim/"

// simulated are the packages that run inside the kernel. Their listed files are at its border.
var simulated = map[string][]string{
	"internal/world/kernel":             {"flight.go", "live.go", "pace.go"},
	"internal/api/kind":                 nil,
	"internal/world/store":              nil,
	"internal/world/component":          nil,
	"internal/world/operation":          nil,
	"internal/world/ordered":            nil,
	"internal/world/workqueue":          nil,
	"internal/world/volume":             nil,
	"internal/world/workload":           nil,
	"internal/world/workload/informers": nil,
	"fakekubelet/...":                   nil,
	"fakecontroller/...":                nil,
}

// clock are the functions of package time that read or follow the real clock.
var clock = map[string]bool{
	"Now": true, "Since": true, "Until": true, "After": true, "AfterFunc": true, "Tick": true,
	"NewTimer": true, "NewTicker": true, "Sleep": true,
}

func TestSimulatedCodeKnowsNoRealTimeNoChanceNoThreadsNoMapOrder(t *testing.T) {
	border := map[string]bool{}
	var patterns []string
	for path, files := range simulated {
		patterns = append(patterns, module+path)
		for _, f := range files {
			border["/"+path+"/"+f] = true
		}
	}
	loaded, err := packages.Load(&packages.Config{
		Mode: packages.NeedName | packages.NeedFiles | packages.NeedSyntax | packages.NeedTypes | packages.NeedTypesInfo | packages.NeedImports,
	}, patterns...)
	require.NoError(t, err)
	require.Greater(t, len(loaded), 15)
	for _, p := range loaded {
		require.Empty(t, p.Errors, p.PkgPath)
		for _, file := range p.Syntax {
			name := p.Fset.Position(file.Pos()).Filename
			atBorder := false
			for suffix := range border {
				atBorder = atBorder || strings.HasSuffix(name, suffix)
			}
			if !atBorder {
				for _, problem := range (&reader{p, file}).problems() {
					t.Error(problem)
				}
			}
		}
	}
}

// Only tests plant mistakes.
func TestNothingButTestsPlantsMistakes(t *testing.T) {
	out, err := exec.Command("git", "-C", "../..", "grep", "--untracked", "-l", `seeded\.Plant(`).Output()
	require.NoError(t, err)
	for file := range strings.FieldsSeq(string(out)) {
		assert.True(t, strings.HasSuffix(file, "_test.go"), file)
	}
}

// reader looks for forbidden operations in a file.
type reader struct {
	*packages.Package
	file *ast.File
}

func (r *reader) problems() (found []string) {
	add := func(at token.Pos, format string, args ...any) {
		found = append(found, fmt.Sprintf("%s: %s", r.Fset.Position(at), fmt.Sprintf(format, args...)))
	}
	for _, i := range r.file.Imports {
		switch path := strings.Trim(i.Path.Value, `"`); path {
		case "math/rand", "math/rand/v2", "crypto/rand", "sync", "sync/atomic":
			add(i.Pos(), "simulated code must not import %s", path)
		}
	}
	ast.Inspect(r.file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.GoStmt:
			add(n.Pos(), "simulated code must not start a goroutine: spawn a process")
		case *ast.SelectorExpr:
			if use, ok := r.TypesInfo.Uses[n.Sel].(*types.Func); ok && use.Pkg() != nil && use.Pkg().Path() == "time" &&
				use.Signature().Recv() == nil && clock[n.Sel.Name] {
				add(n.Pos(), "simulated code must not call time.%s: time is virtual", n.Sel.Name)
			}
		case *ast.RangeStmt:
			if _, isMap := r.TypesInfo.TypeOf(n.X).Underlying().(*types.Map); isMap && r.hasEffects(n.Body) && !r.excused(n) {
				add(n.Pos(), "ranging over a map with calls in the body: sort the keys, or say in a comment above why any order will do")
			}
		}
		return true
	})
	return found
}

// hasEffects reports whether a loop body calls anything but builtins and conversions.
func (r *reader) hasEffects(body *ast.BlockStmt) (effects bool) {
	ast.Inspect(body, func(n ast.Node) bool {
		call, ok := n.(*ast.CallExpr)
		if !ok {
			return true
		}
		if t, ok := r.TypesInfo.Types[call.Fun]; ok && (t.IsBuiltin() || t.IsType()) {
			return true
		}
		effects = true
		return false
	})
	return effects
}

// excused reports whether a comment says that any order will do. The comment is on the loop's line,
// or ends on the line above.
func (r *reader) excused(loop ast.Node) bool {
	line := r.Fset.Position(loop.Pos()).Line
	for _, group := range r.file.Comments {
		end := r.Fset.Position(group.End()).Line
		if (end == line-1 || end == line) && strings.Contains(group.Text(), "any order") {
			return true
		}
	}
	return false
}

func TestTheDependenciesOfDriverRepositoriesStayFew(t *testing.T) {
	out, err := exec.Command("go", "list", "-deps", module+"sim").Output()
	require.NoError(t, err)
	deps := strings.Fields(string(out))
	require.Contains(t, deps, module+"internal/world/kernel")
	for _, dep := range deps {
		for _, heavy := range []string{
			"k8s.io/kubernetes", "k8s.io/apiserver", "sigs.k8s.io/kind", "github.com/spf13/cobra", "github.com/spf13/pflag",
			"github.com/google/cel-go", "github.com/stretchr/testify", "testing",
			"github.com/google/go-containerregistry", "gvisor.dev/gvisor", module + "internal/image", module + "internal/real", module + "sim/kind",
		} {
			assert.False(t, dep == heavy || strings.HasPrefix(dep, heavy+"/"), "package sim links %s", dep)
		}
	}
}

// Only the command may use HTML. gRPC's own traces link it, unless they are disabled.
func TestDriverRepositoriesLinkNoHTML(t *testing.T) {
	out, err := exec.Command("go", "list", "-deps", "-f", "{{.ImportPath}} {{join .Imports \" \"}}", module+"sim").Output()
	require.NoError(t, err)
	var users []string
	for _, line := range strings.Split(strings.TrimSpace(string(out)), "\n") {
		if words := strings.Fields(line); slices.Contains(words[1:], "html/template") {
			users = append(users, words[0])
		}
	}
	assert.Equal(t, []string{"golang.org/x/net/trace"}, users)
	out, err = exec.Command("go", "list", "-deps", "-tags", "grpcnotrace", module+"sim").Output()
	require.NoError(t, err)
	assert.NotContains(t, strings.Fields(string(out)), "html/template")
}

func TestArrowsPointDownwards(t *testing.T) {
	out, err := exec.Command("go", "list", "-f", "{{.ImportPath}} {{join .Imports \" \"}}", module+"...").Output()
	require.NoError(t, err)
	for _, line := range strings.Split(strings.TrimSpace(string(out)), "\n") {
		words := strings.Fields(strings.ReplaceAll(line, module, ""))
		for _, imported := range words[1:] {
			assert.False(t, upwards(words[0], imported), "%s must not import %s", words[0], imported)
		}
	}
}

// floors are the layers of the project from bottom to top. Each layer uses earlier ones in this
// list.
var floors = [][]string{
	// Kernel, store, machine, trace and other parts of a world.
	{"internal/world"},
	// The API in front of the store; files of users, read strictly; verdicts on runs; the search of
	// runs.
	{"internal/api", "internal/input", "internal/judge", "internal/explore"},
	// Reference drivers and faults; how drivers are served, called, recorded and broken; the page
	// that shows a trace, and the rules of the CSI spec that its calls kept; the import of logs;
	// container images.
	{"drivers", "internal/driver", "internal/view", "internal/incident", "internal/image"},
	// The parts of Kubernetes, which meet in the store alone.
	{"fakekubelet", "fakecontroller"},
	// The parts of a simulated cluster.
	{"internal/cluster"},
	// The public API: a cluster.
	{"sim"},
	// The same on a real cluster.
	{"internal/real", "sim/kind"},
	// Commands and examples.
	{"cmd", "examples", "scenarios"},
}

func within(path, top string) bool { return path == top || strings.HasPrefix(path, top+"/") }

// floorOf returns the floor of the longest listed path that contains a package; negative if there
// is none.
func floorOf(path string) int {
	floor, longest := -1, ""
	for i, parts := range floors {
		for _, part := range parts {
			if within(path, part) && len(part) > len(longest) {
				floor, longest = i, part
			}
		}
	}
	return floor
}

// upwards: no package uses a floor above its own, and no controller uses another controller or the
// kubelet.
func upwards(from, to string) bool {
	if floorOf(from) < 0 || floorOf(to) < 0 {
		return false
	}
	const controllers = "fakecontroller"
	folder := func(path string) string {
		first, _, _ := strings.Cut(strings.TrimPrefix(path, controllers+"/internal/"), "/")
		return first
	}
	switch {
	case from == controllers: // the list of all controllers
		return floorOf(to) > floorOf(from)
	case within(from, controllers) && within(to, controllers):
		return folder(from) != folder(to)
	case within(from, controllers) && within(to, "fakekubelet"), within(from, "fakekubelet") && within(to, controllers):
		return true
	}
	return floorOf(to) > floorOf(from)
}

// public are the packages that others can import: sim and its companions, and the lists of
// Kubernetes' components.
var public = []string{
	"drivers/fault", "drivers/mock", "fakecontroller", "fakekubelet", "sim", "sim/expect", "sim/kind", "sim/machine", "sim/namespaces",
}

func TestNoOtherPackageIsPublic(t *testing.T) {
	out, err := exec.Command("go", "list", "-f", `{{if and (ne .Name "main") .GoFiles}}{{.ImportPath}}{{end}}`, module+"...").Output()
	require.NoError(t, err)
	var importable []string
	for _, path := range strings.Fields(string(out)) {
		if path = strings.TrimPrefix(path, module); !strings.Contains("/"+path, "/internal/") {
			importable = append(importable, path)
		}
	}
	assert.Equal(t, public, importable)
}

// The oracle is not a client: it compares internal packages with Kubernetes' own.
func TestExamplesImportPublicPackages(t *testing.T) {
	out, err := exec.Command("git", "-C", "../..", "grep", "-hoE", `"`+module+`[^"]*"`, "--", "examples/*.go", "test/*.go", ":!test/oracle/").Output()
	require.NoError(t, err)
	imports := strings.Fields(string(out))
	require.NotEmpty(t, imports)
	for _, i := range imports {
		assert.Contains(t, public, strings.TrimPrefix(strings.Trim(i, `"`), module))
	}
}
