package effect_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"reflect"
	"slices"
	"strconv"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/csisim/csisim/drivers/fault"
	"github.com/csisim/csisim/internal/driver/effect"
	"github.com/csisim/csisim/internal/input/strict"
)

// Go tests name exactly the effects of the list.
func TestEveryEffectHasANameInPackageFaultAndViceVersa(t *testing.T) {
	var listed []string
	for _, e := range effect.All() {
		listed = append(listed, string(e.Name))
		assert.Equal(t, e.Name, effect.Of(e.Name).Name)
		assert.NotNil(t, e.InWords, e.Name)
		assert.NotNil(t, e.Do, e.Name)
	}
	slices.Sort(listed)
	assert.Equal(t, slices.Compact(listed), declared(t), "package fault declares other names")
	assert.Equal(t, fault.Answer, effect.Of("").Name, "a fault without an effect answers with its code")
}

// declared returns the values of the constants of type fault.Effect.
func declared(t *testing.T) (names []string) {
	file, err := parser.ParseFile(token.NewFileSet(), "../../../drivers/fault/fault.go", nil, 0)
	require.NoError(t, err)
	ast.Inspect(file, func(n ast.Node) bool {
		constant, ok := n.(*ast.ValueSpec)
		if !ok || constant.Type == nil {
			return true
		}
		if of, ok := constant.Type.(*ast.Ident); ok && of.Name == "Effect" {
			name, err := strconv.Unquote(constant.Values[0].(*ast.BasicLit).Value)
			require.NoError(t, err)
			names = append(names, name)
		}
		return true
	})
	slices.Sort(names)
	return names
}

// An effect without a field is for searches only. Every field belongs to the step and is
// documented.
func TestEveryEffectIsReachedByAStepOrASearch(t *testing.T) {
	var fields []string
	for _, f := range strict.Fields(reflect.TypeFor[effect.Fields]()) {
		assert.NotEmpty(t, f.Doc, f.Name)
		fields = append(fields, f.Name)
	}
	for _, e := range effect.All() {
		if e.Field == "" {
			assert.NotNil(t, e.InSearches, e.Name)
			continue
		}
		assert.Contains(t, fields, e.Field)
		assert.NotNil(t, e.Given, e.Name)
	}
}

// The proxy of a real driver gets only the driver's calls.
func TestEffectsOnSystemCallsAreImpossibleOnARealCluster(t *testing.T) {
	const unseen, chance = "the proxy does not see the driver's system calls", "concurrent actions are drawn in a search only"
	for _, tt := range []struct {
		fault fault.Fault
		want  string
	}{
		{fault.Fault{}, ""},
		{fault.Fault{Effect: fault.Answer}, ""},
		{fault.Fault{Effect: fault.Instead}, ""},
		{fault.Fault{Effect: fault.LoseAnswer}, ""},
		{fault.Fault{Effect: fault.HoldRequest}, ""},
		{fault.Fault{Effect: fault.HoldAnswer}, ""},
		{fault.Fault{Effect: fault.LateAnswer}, ""},
		{fault.Fault{Effect: fault.LateEffect}, ""},
		{fault.Fault{Effect: fault.Hang}, ""},
		{fault.Fault{Effect: fault.Repeat}, ""},
		{fault.Fault{Effect: fault.Overlap}, ""},
		{fault.Fault{Effect: fault.Contradict}, ""},
		{fault.Fault{Effect: fault.Kill, Victim: fault.Driver, At: fault.AtWork}, ""},
		{fault.Fault{Effect: fault.Kill, Victim: fault.Driver, System: fault.SystemCall{Name: "mount"}}, unseen},
		{fault.Fault{Effect: fault.Kill, Victim: fault.Driver, RestartAs: "v2"}, effect.OneRelease},
		{fault.Fault{Effect: fault.TimeOut}, unseen},
		{fault.Fault{Effect: fault.Stall}, unseen},
		{fault.Fault{Effect: fault.InUse}, unseen},
		{fault.Fault{Effect: fault.FailSystemCall}, unseen},
		{fault.Fault{Effect: fault.FailRequest}, unseen},
		{fault.Fault{Effect: fault.FailMounted}, unseen},
		{fault.Fault{Effect: fault.Meanwhile}, chance},
	} {
		assert.Equal(t, tt.want, effect.Never(&tt.fault), "%+v", tt.fault)
	}
}
