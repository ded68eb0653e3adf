package definition

import (
	"maps"
	"slices"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// Rule is a prepared rule of x-kubernetes-validations.
type Rule interface {
	// ComparesOld reports whether the rule contains oldSelf, because it is about a change.
	ComparesOld() bool
	// Holds evaluates the rule for a value. old is the replaced value, nil if there is none.
	Holds(self, old any) (bool, error)
	// Message returns the rule's own message for a value that breaks it; "" if there is none.
	Message(self, old any) string
	// Cost returns the maximum cost of the rule, if its schema limits the values.
	Cost() Cost
}

// Cost is in units of CEL.
type Cost struct {
	// Rule is the cost of the rule for one value, Message the cost of its message expression.
	Rule, Message uint64
	// Values is the number of such values that fit into a request.
	Values uint64
}

// MessageError is a mistake in the expression of a rule's message.
type MessageError struct{ Err error }

func (e MessageError) Error() string { return e.Err.Error() }

// Compile prepares a rule for the values of a schema. root means that they are whole objects.
type Compile func(s *schema.Structural, root bool, rule apiextensionsv1.ValidationRule) (Rule, error)

// compile is nil unless the program links an engine for rules. Without an engine, rules are
// accepted but not checked.
var compile Compile

// UseRules enables the check of rules. It must be called during the initialization of a program;
// package rule does this.
func UseRules(c Compile) { compile = c }

// ruled is a schema that has rules itself or in a subschema.
type ruled struct {
	schema        *schema.Structural
	rules         []madeRule
	properties    map[string]*ruled
	values, items *ruled
}

type madeRule struct {
	text apiextensionsv1.ValidationRule
	Rule // nil without an engine
}

// rulesOf returns nil for a schema without rules.
func rulesOf(s *schema.Structural) (*ruled, error) { return ruledBy(s, true) }

func ruledBy(s *schema.Structural, root bool) (*ruled, error) {
	if s == nil {
		return nil, nil
	}
	r := &ruled{schema: s, properties: map[string]*ruled{}}
	for _, text := range everyRule(s) {
		made := madeRule{text: text}
		if compile != nil {
			rule, err := compile(s, root || s.XEmbeddedResource, text)
			if err != nil {
				return nil, err
			}
			made.Rule = rule
		}
		r.rules = append(r.rules, made)
	}
	var err error
	for _, name := range slices.Sorted(maps.Keys(s.Properties)) {
		property := s.Properties[name]
		below, err := ruledBy(&property, false)
		if err != nil {
			return nil, err
		}
		if below != nil {
			r.properties[name] = below
		}
	}
	if r.values, err = ruledBy(valuesOf(s), false); err != nil {
		return nil, err
	}
	if r.items, err = ruledBy(s.Items, false); err != nil {
		return nil, err
	}
	if len(r.rules) == 0 && len(r.properties) == 0 && r.values == nil && r.items == nil {
		return nil, nil
	}
	return r, nil
}

// everyRule returns the rules of a value, including those of allOf.
func everyRule(s *schema.Structural) apiextensionsv1.ValidationRules {
	all := slices.Clone(s.XValidations)
	if s.ValueValidation != nil {
		for _, part := range s.ValueValidation.AllOf {
			all = append(all, part.XValidations...)
		}
	}
	return all
}

// obey evaluates the rules for an object, unless the object's errors make that impossible.
func (s *schemas) obey(errs field.ErrorList, object, old map[string]any) field.ErrorList {
	switch {
	case s.rules == nil:
		return nil
	case slices.ContainsFunc(errs, hidesRules):
		return field.ErrorList{field.Invalid(nil, nil,
			"some validation rules were not checked because the object was invalid; correct the existing errors to complete validation")}
	case old == nil:
		return s.rules.check(nil, object, nil)
	}
	return s.rules.check(nil, object, old)
}

func hidesRules(e *field.Error) bool {
	switch e.Type {
	case field.ErrorTypeNotSupported, field.ErrorTypeRequired, field.ErrorTypeTooLong, field.ErrorTypeTooMany, field.ErrorTypeTypeInvalid:
		return true
	}
	return false
}

// check evaluates all rules at and below a value. old is nil if there was none.
func (r *ruled) check(at *field.Path, value, old any) (errs field.ErrorList) {
	if r == nil || value == nil {
		return nil
	}
	for _, rule := range r.rules {
		errs = append(errs, rule.check(at, r.schema, value, old)...)
	}
	switch value := value.(type) {
	case map[string]any:
		before, _ := old.(map[string]any)
		for _, name := range slices.Sorted(maps.Keys(value)) {
			if property, ok := r.properties[name]; ok {
				errs = append(errs, property.check(at.Child(name), value[name], before[name])...)
			} else if _, known := r.schema.Properties[name]; !known {
				errs = append(errs, r.values.check(at.Key(name), value[name], before[name])...)
			}
		}
	case []any:
		before, _ := old.([]any)
		for i, item := range value {
			errs = append(errs, r.items.check(at.Index(i), item, r.before(item, before))...)
		}
	}
	return errs
}

// before returns the old item of a list with keys.
func (r *ruled) before(item any, old []any) any {
	if len(r.schema.XListMapKeys) == 0 {
		return nil
	}
	like, _ := itemLike(item, old, r.schema.XListMapKeys)
	return like
}

func (m madeRule) check(at *field.Path, s *schema.Structural, value, old any) field.ErrorList {
	optional := m.text.OptionalOldSelf != nil && *m.text.OptionalOldSelf
	switch {
	case m.Rule == nil, m.ComparesOld() && old == nil && !optional:
		return nil
	case !m.ComparesOld() && old != nil && equality.Semantic.DeepEqual(value, old):
		return nil // an unchanged error may stay
	}
	holds, err := m.Holds(value, old)
	switch {
	case err != nil && strings.HasPrefix(err.Error(), "no such overload"):
		return field.ErrorList{field.Invalid(at, s.Type, "'"+err.Error()+"': call arguments did not match a supported operator, function or macro signature for rule: "+m.name())}
	case err != nil:
		return field.ErrorList{field.Invalid(at, s.Type, err.Error()+" evaluating rule: "+m.name())}
	case holds:
		return nil
	}
	if s.Type == "object" || s.Type == "array" {
		return field.ErrorList{m.broken(m.place(at), field.OmitValueType{}, m.detail(value, old))}
	}
	return field.ErrorList{m.broken(m.place(at), value, m.detail(value, old))}
}

// name returns the rule's name in messages.
func (m madeRule) name() string {
	if m.text.Message != "" {
		return strings.TrimSpace(m.text.Message)
	}
	return strings.TrimSpace(m.text.Rule)
}

func (m madeRule) detail(value, old any) string {
	if text := m.Message(value, old); text != "" {
		return text
	}
	if m.text.Message != "" {
		return strings.TrimSpace(m.text.Message)
	}
	return "failed rule: " + m.name()
}

// place returns the field that the rule names in its errors.
func (m madeRule) place(at *field.Path) *field.Path {
	if path := strings.TrimPrefix(m.text.FieldPath, "."); path != "" {
		return at.Child(path)
	}
	return at
}

func (m madeRule) broken(at *field.Path, value any, detail string) *field.Error {
	if m.text.Reason == nil {
		return field.Invalid(at, value, detail)
	}
	switch *m.text.Reason {
	case apiextensionsv1.FieldValueForbidden:
		return field.Forbidden(at, detail)
	case apiextensionsv1.FieldValueRequired:
		return field.Required(at, detail)
	case apiextensionsv1.FieldValueDuplicate:
		return field.Duplicate(at, value)
	}
	return field.Invalid(at, value, detail)
}
