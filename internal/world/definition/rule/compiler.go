package rule

import (
	"errors"
	"fmt"
	"sync"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/checker"
	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/ext"
	"github.com/google/cel-go/interpreter"
	"k8s.io/apiserver/pkg/cel/library"

	"github.com/csisim/csisim/internal/world/definition"
	"github.com/csisim/csisim/internal/world/definition/rule/bound"
)

// selfType is the name of self's type in messages; Kubernetes adds a random number.
const selfType = "selfType"

// perCallLimit is the cost at which the real server aborts one rule.
const perCallLimit = 1_000_000

// base is the common environment of all rules. [apiserver/pkg/cel/environment/base.go]
var base = sync.OnceValues(func() (*cel.Env, error) {
	return cel.NewEnv(
		cel.HomogeneousAggregateLiterals(), cel.EagerlyValidateDeclarations(true), cel.DefaultUTCTimeZone(true),
		cel.CrossTypeNumericComparisons(true), cel.OptionalTypes(),
		cel.CostEstimatorOptions(checker.PresenceTestHasCost(false)),
		cel.ASTValidators(
			cel.ValidateDurationLiterals(), cel.ValidateTimestampLiterals(), cel.ValidateRegexLiterals(),
			cel.ValidateHomogeneousAggregateLiterals(),
		),
		library.URLs(), library.Regex(), library.Lists(), library.Authz(), library.AuthzSelectors(), library.Quantity(),
		library.IP(), library.CIDR(), library.Format(), library.SemverLib(library.SemverVersion(1)),
		ext.Strings(ext.StringsVersion(2)), ext.Sets(), ext.TwoVarComprehensions(), ext.Lists(ext.ListsVersion(3)),
	)
})

// compiler creates the programs for the expressions of one rule.
type compiler struct {
	costs costs
	env   *cel.Env
}

// open declares the names self and oldSelf, with their type.
func (c *compiler) open(self *declared, optionalOld bool) error {
	env, err := base()
	if err != nil {
		return fmt.Errorf("make CEL environment: %w", err)
	}
	registry, err := types.NewRegistry()
	if err != nil {
		return fmt.Errorf("make CEL types: %w", err)
	}
	is, objects := types.DynType, map[string]*declared{}
	if self != nil {
		is = self.is
	}
	known := &provider{registry, objects}
	known.add(self)
	old := is
	if optionalOld {
		old = types.NewOptionalType(is)
	}
	c.env, err = env.Extend(cel.CustomTypeProvider(known), cel.Variable(nameOfSelf, is), cel.Variable(nameOfOld, old))
	return err
}

// compile checks the types of an expression. Its errors begin with a prefix.
func (c *compiler) compile(text string, is *types.Type, otherwise, prefix string) (*cel.Ast, error) {
	checked, issues := c.env.Compile(text)
	if issues.Err() != nil {
		return nil, fmt.Errorf("%scompilation failed: %w", prefix, issues.Err())
	}
	if !checked.OutputType().IsExactType(is) {
		return nil, errors.New(otherwise)
	}
	return checked, nil
}

// program returns the program of an expression, and its maximum cost.
func (c *compiler) program(checked *cel.Ast) (cel.Program, uint64, error) {
	estimator := &library.CostEstimator{SizeEstimator: &c.costs}
	program, err := c.env.Program(checked, bound.Options(
		cel.CostLimit(perCallLimit), cel.CostTracking(estimator), cel.CostTrackerOptions(interpreter.PresenceTestHasCost(false)))...)
	if err != nil {
		return nil, 0, fmt.Errorf("program instantiation failed: %w", err)
	}
	cost, err := c.env.EstimateCost(checked, estimator)
	if err != nil {
		return nil, 0, fmt.Errorf("cost estimation failed: %w", err)
	}
	return program, cost.Max, nil
}

// addMessage compiles the expression of a rule's own message.
func (c *compiler) addMessage(r *rule, text string) error {
	checked, err := c.compile(text, types.StringType, "messageExpression must evaluate to a string", "messageExpression ")
	if err == nil {
		r.message, r.cost.Message, err = c.program(checked)
	}
	if err != nil {
		return definition.MessageError{Err: err}
	}
	return nil
}
