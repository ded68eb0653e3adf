package definition

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"math"
	"math/bits"
	"slices"

	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// The highest estimated costs that are permitted for one rule, and for all rules of a schema.
// [apiextensions-apiserver/pkg/apis/apiextensions/validation/validation.go]
const (
	costLimit      = 10_000_000
	totalCostLimit = 100_000_000
	mostNamed      = 4 // rules in the error if only the sum of costs is too high
)

// checkRules returns the errors of rules that cannot be compiled, or may cost too much.
func checkRules(s *schema.Structural, at *field.Path) field.ErrorList {
	var c ruleCheck
	errs := c.check(s, at, true, 1)
	if c.total <= totalCostLimit {
		return errs
	}
	slices.SortStableFunc(c.expensive, func(a, b expensiveRule) int { return cmp.Compare(b.cost, a.cost) })
	for _, rule := range c.expensive[:min(len(c.expensive), mostNamed)] {
		errs = append(errs, field.Forbidden(rule.at, "contributed to estimated rule cost total exceeding cost limit for entire OpenAPIv3 schema"))
	}
	return append(errs, field.Forbidden(at, tooExpensive("x-kubernetes-validations estimated rule cost total for entire OpenAPIv3 schema", c.total, totalCostLimit)))
}

// ruleCheck adds up the costs of the rules of a schema.
type ruleCheck struct {
	total     uint64
	expensive []expensiveRule
}

type expensiveRule struct {
	at   *field.Path
	cost uint64
}

// unbounded means that only the size of a request limits the number of values of a schema.
const unbounded = 0

// check checks the rules below a value, then the value's own rules. values is the largest number of
// these values in an object.
func (c *ruleCheck) check(s *schema.Structural, at *field.Path, root bool, values uint64) field.ErrorList {
	if s == nil {
		return nil
	}
	var errs field.ErrorList
	below := below(s, values)
	errs = append(errs, c.check(valuesOf(s), at.Child("additionalProperties"), false, below)...)
	for _, name := range slices.Sorted(maps.Keys(s.Properties)) {
		property := s.Properties[name]
		errs = append(errs, c.check(&property, at.Child("properties").Key(name), false, below)...)
	}
	errs = append(errs, c.check(s.Items, at.Child("items"), false, below)...)
	for i := range s.XValidations {
		errs = append(errs, c.rule(s, i, at.Child("x-kubernetes-validations").Index(i), root || s.XEmbeddedResource, values)...)
	}
	return errs
}

// below returns the largest number of values inside the given number of lists, maps or objects.
func below(s *schema.Structural, values uint64) uint64 {
	var most *int64
	switch {
	case values == unbounded:
		return unbounded
	case s.Type == "array" && s.ValueValidation != nil:
		most = s.ValueValidation.MaxItems
	case s.Type == "object" && s.AdditionalProperties != nil && s.ValueValidation != nil:
		most = s.ValueValidation.MaxProperties
	case s.Type != "array" && s.AdditionalProperties == nil:
		return values
	}
	if most == nil {
		return unbounded
	}
	return times(values, uint64(max(*most, 1)))
}

// times returns a product, or the largest number if the product overflows.
func times(a, b uint64) uint64 {
	if over, product := bits.Mul64(a, b); over == 0 {
		return product
	}
	return math.MaxUint64
}

func (c *ruleCheck) rule(s *schema.Structural, i int, at *field.Path, root bool, values uint64) (errs field.ErrorList) {
	text := s.XValidations[i]
	made, err := compile(s, root, text)
	var message MessageError
	switch {
	case errors.As(err, &message):
		errs = append(errs, field.Invalid(at.Child("messageExpression"), internalRule(text), err.Error()))
	case err != nil:
		return field.ErrorList{field.Invalid(at.Child("rule"), internalRule(text), err.Error())}
	}
	cost := made.Cost()
	errs = append(errs, c.observe(at.Child("rule"), "estimated rule cost", times(cost.Rule, cmp.Or(values, cost.Values)))...)
	if text.MessageExpression != "" {
		errs = append(errs, c.observe(at.Child("messageExpression"), "estimated messageExpression cost", cost.Message)...)
	}
	if !made.ComparesOld() && text.OptionalOldSelf != nil {
		errs = append(errs, field.Invalid(at.Child("optionalOldSelf"), *text.OptionalOldSelf, "may not be set if oldSelf is not used in rule"))
	}
	return errs
}

// internalRule returns a rule in the form of messages.
func internalRule(r apiextensionsv1.ValidationRule) (internal apiextensions.ValidationRule) {
	if err := apiextensionsv1.Convert_v1_ValidationRule_To_apiextensions_ValidationRule(&r, &internal, nil); err != nil {
		panic(err) // the fields are the same
	}
	return internal
}

// observe adds a cost, and rejects it if it alone is too high.
func (c *ruleCheck) observe(at *field.Path, what string, cost uint64) field.ErrorList {
	if sum, over := bits.Add64(c.total, cost, 0); over == 0 {
		c.total = sum
	} else {
		c.total = math.MaxUint64
	}
	if cost >= totalCostLimit/100 {
		c.expensive = append(c.expensive, expensiveRule{at, cost})
	}
	if cost <= costLimit {
		return nil
	}
	return field.ErrorList{field.Forbidden(at, tooExpensive(what, cost, costLimit))}
}

// tooExpensive returns the API server's message.
func tooExpensive(what string, cost, limit uint64) string {
	factor := float64(cost) / float64(limit)
	by := fmt.Sprintf("%.1fx", factor)
	switch {
	case factor > 100:
		by = "more than 100x"
	case factor < 1.5:
		by = fmt.Sprintf("%fx", factor)
	}
	return fmt.Sprintf("%s exceeds budget by factor of %s (try simplifying the rule, or adding maxItems, maxProperties, and maxLength where arrays, maps, and strings are declared)", what, by)
}
