package load

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"

	"github.com/csisim/csisim/internal/load"
	"github.com/csisim/csisim/internal/world/lazyregexp"
)

// Condition is a condition of --fail-if.
type Condition struct {
	Text    string `json:"text"`
	Holds   bool   `json:"holds"`
	Because string `json:"because,omitempty"`
}

// functions are the functions of conditions about calls, at the largest level. Times are in
// seconds.
var functions = []struct {
	name, unit string
	of         func(*load.Result, load.Summary) float64
}{
	{"p50", "s", func(_ *load.Result, s load.Summary) float64 { return s.P50 / 1e3 }},
	{"p90", "s", func(_ *load.Result, s load.Summary) float64 { return s.P90 / 1e3 }},
	{"p99", "s", func(_ *load.Result, s load.Summary) float64 { return s.P99 / 1e3 }},
	{"max", "s", func(_ *load.Result, s load.Summary) float64 { return s.Max / 1e3 }},
	{"count", "", func(_ *load.Result, s load.Summary) float64 { return float64(s.Count) }},
	{"throughput", "/s", func(_ *load.Result, s load.Summary) float64 { return s.Throughput }},
	{"errors", "", func(_ *load.Result, s load.Summary) float64 { return float64(failed(s)) }},
	{"growth", "", func(r *load.Result, s load.Summary) float64 {
		g, _ := r.GrowthOf(s.Method)
		return g.Exponent
	}},
}

func failed(s load.Summary) (n int) {
	for _, count := range s.Errors {
		n += count
	}
	return n
}

// values lists the values of conditions that are not about a call.
var values = []struct {
	name, unit string
	of         func(*Report) float64
}{
	{"up", "s", func(r *Report) float64 { return load.Median(r.Largest().Took("up")) }},
	{"down", "s", func(r *Report) float64 { return load.Median(r.Largest().Took("down")) }},
	{"memory", " bytes", func(r *Report) float64 { return float64(r.Largest().Use("up").Memory) }},
	{"slower", "%", func(r *Report) float64 {
		if r.Compared == nil {
			return 0
		}
		return r.Compared.Slower()
	}},
}

// quantity matches numbers, with or without a unit that CEL lacks: 2s, 150ms, 10%, 1Gi.
var quantity = lazyregexp.New(`\b(\d+(?:\.\d+)?)(us|µs|ms|s|m|h|%|Ki|Mi|Gi)?`)

var units = map[string]string{"us": "1e-6", "µs": "1e-6", "ms": "1e-3", "s": "1.0", "m": "60.0", "h": "3600.0", "%": "1e-2", "Ki": "1024.0", "Mi": "1048576.0", "Gi": "1073741824.0"}

// inCEL writes numbers in the syntax of CEL, all as floating point numbers.
func inCEL(text string) string {
	return quantity().ReplaceAllStringFunc(text, func(found string) string {
		parts := quantity().FindStringSubmatch(found)
		number := parts[1]
		if !strings.Contains(number, ".") {
			number += ".0"
		}
		if parts[2] == "" {
			return number
		}
		return "(" + number + " * " + units[parts[2]] + ")"
	})
}

// CheckCondition returns the mistake in a condition.
func CheckCondition(text string) error {
	env, err := environment(nil, nil)
	if err != nil {
		return err
	}
	_, err = compiled(env, text)
	return err
}

func compiled(env *cel.Env, text string) (*cel.Ast, error) {
	ast, issues := env.Compile(inCEL(text))
	switch {
	case issues.Err() != nil:
		return nil, fmt.Errorf("%s; there are %s of a call, and %s", issues.Errors()[0].Message, names(functionNames()), names(valueNames()))
	case ast.OutputType() != cel.BoolType:
		return nil, fmt.Errorf("it is %s, and a condition is true or false", ast.OutputType())
	}
	return ast, nil
}

func functionNames() (all []string) {
	for _, f := range functions {
		all = append(all, f.name)
	}
	return all
}

func valueNames() (all []string) {
	for _, v := range values {
		all = append(all, v.name)
	}
	return all
}

func names(all []string) string {
	return strings.Join(all[:len(all)-1], ", ") + " and " + all[len(all)-1]
}

// environment provides the functions and values of conditions. A call can be written with or
// without quotes. note is called with each value of a function in use.
func environment(r *Report, note func(string)) (*cel.Env, error) {
	options := []cel.EnvOption{cel.CrossTypeNumericComparisons(true)}
	for _, method := range load.Kinds {
		options = append(options, cel.Constant(method, cel.StringType, types.String(method)))
	}
	for _, f := range functions {
		options = append(options, cel.Function(f.name, cel.Overload(f.name+"_string", []*cel.Type{cel.StringType}, cel.DoubleType, cel.UnaryBinding(func(arg ref.Val) ref.Val {
			method := string(arg.(types.String))
			value := f.of(r.Result, r.Largest().Of(method))
			note(fmt.Sprintf("%s(%s) is %s", f.name, method, inUnit(value, f.unit)))
			return types.Double(value)
		}))))
	}
	for _, v := range values {
		options = append(options, cel.Variable(v.name, cel.DoubleType))
	}
	return cel.NewEnv(options...)
}

// inUnit writes a number with at most three decimal places, and its unit.
func inUnit(n float64, unit string) string {
	if unit == "%" {
		n *= 100
	}
	return strings.TrimRight(strings.TrimRight(fmt.Sprintf("%.3f", n), "0"), ".") + unit
}

// Judge evaluates conditions on the report.
func (r *Report) Judge(conditions []string) error {
	for _, text := range conditions {
		c := Condition{Text: text}
		var used []string
		env, err := environment(r, func(value string) {
			if !slices.Contains(used, value) {
				used = append(used, value)
			}
		})
		if err != nil {
			return err
		}
		ast, err := compiled(env, text)
		if err != nil {
			return err
		}
		program, err := env.Program(ast)
		if err != nil {
			return fmt.Errorf("condition %s: %w", text, err)
		}
		input := map[string]any{}
		for _, v := range values {
			input[v.name] = v.of(r)
			if regexp.MustCompile(`\b` + v.name + `\b`).MatchString(text) {
				used = append(used, v.name+" is "+inUnit(v.of(r), v.unit))
			}
		}
		out, _, err := program.Eval(input)
		if err != nil {
			return fmt.Errorf("condition %s: %w", text, err)
		}
		c.Holds = out == types.True
		c.Because = strings.Join(used, ", ")
		r.Conditions = append(r.Conditions, c)
	}
	return nil
}
