package expect

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"reflect"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	utiljson "k8s.io/apimachinery/pkg/util/json"

	"github.com/csisim/csisim/internal/input/calls"
	"github.com/csisim/csisim/internal/input/partial"
	"github.com/csisim/csisim/internal/judge/verdict"
	"github.com/csisim/csisim/internal/world/store"
)

// Object is a condition on an object: that it exists, does not exist, is in a phase, has a
// condition, or has certain fields.
type Object struct {
	// Ref is kind and name in the syntax of kubectl: "pod/web", "pvc/team-a/data". In the name *
	// matches any text. A volume or an attachment can be named by its claim: "pv/pvc/data".
	Ref string
	// Phase is its status.phase. Default: any.
	Phase string
	// Condition is a condition of its status: "Ready" requires True, TYPE=STATUS another status.
	// Default: any.
	Condition string
	// Gone requires that no object with these properties exists.
	Gone bool
	// Fields are the fields of the object that must have the given values. Default: none.
	Fields map[string]any
	// Where is a predicate that must hold for the object, and Means describes it in words. Default:
	// any object is accepted.
	Where func(store.Object) bool
	Means string
	// Count is the number of such objects. Default: at least one.
	Count calls.Count

	ref *Reference // nil: Ref has not been parsed yet
}

// Of returns the condition for the objects of a parsed reference.
func (o Object) Of(ref Reference) Object {
	o.Ref, o.ref = ref.Text(), &ref
	return o
}

func (o Object) reference(kinds Kinds) (Reference, error) {
	if o.ref != nil {
		return *o.ref, nil
	}
	return kinds.Reference(o.Ref)
}

// String returns the condition in words: pod web in phase Running.
func (o Object) String() string {
	words := []string{}
	say := func(given bool, format string, args ...any) {
		if given {
			words = append(words, fmt.Sprintf(format, args...))
		}
	}
	say(o.Gone, "gone")
	say(o.Phase != "", "in phase %s", o.Phase)
	say(o.Condition != "", "with condition %s", o.Condition)
	say(o.Where != nil, "such that %s", cmp.Or(o.Means, "a function says so"))
	say(len(o.Fields) > 0, "with %s", partial.Text(o.Fields))
	say(o.Count.Given, "%v times", o.Count)
	if len(words) == 0 {
		words = []string{"there"}
	}
	name := strings.Replace(o.Ref, "/", " ", 1)
	if ref, err := o.reference(Kinds{}); err == nil {
		name = ref.String()
	}
	return name + " " + strings.Join(words, ", ")
}

// Failure returns a failure if the condition does not hold now.
func (o Object) Failure(ev *Evidence) *Failure {
	ref, err := o.reference(KindsIn(ev.Store))
	if err != nil {
		return &Failure{Verdict: verdict.Plain(err.Error())}
	}
	holds, got, err := o.Look(ev)
	switch {
	case err != nil:
		return &Failure{Verdict: verdict.Plain(err.Error())}
	case holds:
		return nil
	}
	return &Failure{
		Verdict: verdict.Plain(ref.String() + " is not as expected"), Expected: o.String(), Got: got,
		About: ev.LastAbout(ref),
	}
}

// Look reports whether the condition holds now and, if not, the actual state.
func (o Object) Look(ev *Evidence) (holds bool, got string, err error) {
	ref, err := o.reference(KindsIn(ev.Store))
	if err != nil {
		return false, "", err
	}
	fitting, total := 0, 0
	for _, obj := range ev.Find(ref) {
		total++
		wrong, err := o.mismatch(obj)
		if err != nil {
			return false, "", fmt.Errorf("read %s %s: %w", ref.Word, obj.GetName(), err)
		}
		if wrong == "" {
			fitting++
		} else if got == "" {
			got = ref.Word + " " + obj.GetName() + ": " + wrong
		}
	}
	if o.Gone {
		return fitting == 0, fmt.Sprintf("%d still there", fitting), nil
	}
	if got == "" {
		got = fmt.Sprintf("%d such %s", fitting, ref.Resource.GVR.Resource)
	}
	if total == 0 {
		got = "no " + ref.String()
	}
	return o.Count.Or(1, math.MaxInt).Holds(fitting), got, nil
}

// mismatch describes how one object differs.
func (o Object) mismatch(obj store.Object) (string, error) {
	if wrong, err := o.fieldMismatch(obj); wrong != "" || err != nil {
		return wrong, err
	}
	if o.Where != nil && !o.Where(obj) {
		return "not true of it: " + cmp.Or(o.Means, "the condition of a function"), nil
	}
	return "", nil
}

func (o Object) fieldMismatch(obj store.Object) (string, error) {
	if o.Phase != "" {
		if wrong := partial.Mismatch(o.Phase, phaseOf(obj)); wrong != "" {
			return "phase " + wrong, nil
		}
	}
	if o.Condition == "" && o.Fields == nil {
		return "", nil
	}
	fields, err := Decoded(obj, o.parts()...)
	if err != nil {
		return "", err
	}
	if o.Condition != "" {
		if wrong := conditionMismatch(o.Condition, inside(fields, "status", "conditions")); wrong != "" {
			return wrong, nil
		}
	}
	return partial.Mismatch(map[string]any(o.Fields), any(fields)), nil
}

// parts returns the fields of the object that the condition reads, such as its status.
func (o Object) parts() []string {
	parts := slices.Sorted(maps.Keys(o.Fields))
	if o.Condition != "" {
		parts = append(parts, "status")
	}
	return parts
}

// Decoded returns an object, or only its named parts, as decoded JSON. Whole numbers are int64.
// Making an encoder for all parts takes longer than running a scenario. Kubernetes' own converter
// is slower still: it copies its type information for each new field.
func Decoded(obj store.Object, parts ...string) (map[string]any, error) {
	shown := map[string]any{}
	if _, custom := obj.(*unstructured.Unstructured); custom || len(parts) == 0 {
		return shown, decode(obj, &shown)
	}
	for _, name := range parts {
		field, ok := fieldNamed(obj, name)
		if !ok {
			// Kind and apiVersion do not count as fields, and neither do misspelt names.
			return Decoded(obj)
		}
		var part any
		if err := decode(field, &part); err != nil {
			return nil, err
		}
		if part != nil {
			shown[name] = part
		}
	}
	return shown, nil
}

// fieldNamed returns a field of an object by its name in JSON.
func fieldNamed(obj store.Object, name string) (any, bool) {
	fields := reflect.ValueOf(obj).Elem()
	for i := range fields.NumField() {
		if known, _, _ := strings.Cut(fields.Type().Field(i).Tag.Get("json"), ","); known == name && known != "" {
			return fields.Field(i).Interface(), true
		}
	}
	return nil, false
}

func decode(value, into any) error {
	text, err := json.Marshal(value)
	if err != nil {
		return err
	}
	return utiljson.Unmarshal(text, into)
}

// phaseOf returns status.phase; nil if there is none. Most waits are for a phase. Making an encoder
// for all fields of a pod takes longer than running a scenario.
func phaseOf(obj store.Object) any {
	if custom, ok := obj.(*unstructured.Unstructured); ok {
		return inside(custom.Object, "status", "phase")
	}
	status := reflect.Indirect(reflect.Indirect(reflect.ValueOf(obj)).FieldByName("Status"))
	if !status.IsValid() {
		return nil
	}
	if phase := status.FieldByName("Phase"); phase.IsValid() && phase.Kind() == reflect.String && phase.String() != "" {
		return phase.String()
	}
	return nil
}

func inside(fields map[string]any, path ...string) any {
	var value any = fields
	for _, key := range path {
		inner, _ := value.(map[string]any)
		value = inner[key]
	}
	return value
}

// conditionMismatch looks for a condition TYPE or TYPE=STATUS among the conditions of a status.
func conditionMismatch(want string, list any) string {
	name, status, given := strings.Cut(want, "=")
	if !given {
		status = "True"
	}
	items, _ := list.([]any)
	for _, item := range items {
		condition, _ := item.(map[string]any)
		if condition["type"] != name {
			continue
		}
		if condition["status"] == status {
			return ""
		}
		wrong := fmt.Sprintf("condition %s is %v", name, condition["status"])
		if message, ok := condition["message"].(string); ok && message != "" {
			wrong += " (" + message + ")"
		}
		return wrong
	}
	return "it has no condition " + name
}
