package oracle

import (
	"bufio"
	"bytes"
	"errors"
	"flag"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"os"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/yaml"
	"k8s.io/client-go/kubernetes/scheme"

	"github.com/csisim/csisim/internal/api/kind"
	"github.com/csisim/csisim/internal/world/store"
)

var (
	seed   = flag.Uint64("seed", 1, "which objects are made")
	rounds = flag.Int("rounds", 300, "how many objects are made of each that is given")
	budget = flag.Duration("for", 0, "go on with further seeds for so long")
)

// objects are those that the generator begins with.
func objects(t *testing.T) (all []store.Object) {
	t.Helper()
	text, err := os.ReadFile("testdata/objects.yaml")
	require.NoError(t, err)
	for documents := yaml.NewYAMLReader(bufio.NewReader(bytes.NewReader(text))); ; {
		document, err := documents.Read()
		if errors.Is(err, io.EOF) {
			return all
		}
		require.NoError(t, err)
		obj, _, err := scheme.Codecs.UniversalDeserializer().Decode(document, nil, nil)
		require.NoError(t, err)
		all = append(all, obj.(store.Object))
	}
}

func newStore() *store.Store {
	return kind.NewStore(store.Options{Now: time.Now})
}

// mistakes are the causes of an error, one a line; "" for none.
func mistakes(err error) []string {
	var status apierrors.APIStatus
	switch {
	case err == nil:
		return nil
	case !errors.As(err, &status) || status.Status().Details == nil || !apierrors.IsInvalid(err):
		return []string{err.Error()}
	}
	var all []string
	for _, c := range status.Status().Details.Causes {
		all = append(all, fmt.Sprintf("%s: %s: %s", c.Field, c.Type, c.Message))
	}
	slices.Sort(all)
	return all
}

// Valid objects have the same defaults.
func TestTheSameDefaults(t *testing.T) {
	found := map[string]string{}
	same := 0
	for i, obj := range objects(t) {
		g := generator{rand.New(rand.NewPCG(*seed, uint64(i)))}
		kind := obj.GetObjectKind().GroupVersionKind().Kind
		res, err := store.ResourceOf(obj)
		require.NoError(t, err)
		for range *rounds {
			changed := obj.DeepCopyObject().(store.Object)
			g.mutate(reflect.ValueOf(changed).Elem(), 0)
			if create(changed) != nil {
				continue
			}
			theirs, err := stored(changed)
			require.NoError(t, err)
			ours := changed.DeepCopyObject().(store.Object)
			if res.Default != nil {
				res.Default(ours)
			}
			differences := compare(kind, fieldsOf(t, theirs), fieldsOf(t, ours))
			if len(differences) == 0 {
				same++
			}
			for _, d := range differences {
				found["default of "+d.signature()] = d.what
			}
		}
	}
	t.Logf("%d objects have the same defaults", same)
	require.Greater(t, same, *rounds*5)
	report(t, found)
}

// fieldsOf are the fields of an object with their values, but for its status, which is nobody's to write.
func fieldsOf(t *testing.T, obj runtime.Object) (all []string) {
	t.Helper()
	fields, err := runtime.DefaultUnstructuredConverter.ToUnstructured(obj)
	require.NoError(t, err)
	delete(fields, "status")
	var walk func(path string, value any)
	walk = func(path string, value any) {
		switch value := value.(type) {
		case map[string]any:
			for key, v := range value {
				walk(path+"."+key, v)
			}
		case []any:
			for i, v := range value {
				walk(fmt.Sprintf("%s[%d]", path, i), v)
			}
		default:
			all = append(all, fmt.Sprintf("%s: default: %v", strings.TrimPrefix(path, "."), value))
		}
	}
	walk("", fields)
	return all
}

// report fails the test for differences without a reason.
func report(t *testing.T, found map[string]string) {
	t.Helper()
	reasons := readReasons(t)
	for _, signature := range slices.Sorted(maps.Keys(found)) {
		if !reasons.explain(signature) {
			t.Errorf("%s\n\t%s", signature, found[signature])
		}
	}
}

// difference is something that one side says and the other does not.
type difference struct{ kind, side, what string }

var numbersInPath = regexp.MustCompile(`\[[^]]*\]`)

// signature leaves out which element of a list, and what the value was.
func (d difference) signature() string {
	field, rest, _ := strings.Cut(d.what, ": ")
	reason, _, _ := strings.Cut(rest, ": ")
	return strings.Join([]string{d.kind, d.side, numbersInPath.ReplaceAllString(field, "[]"), reason}, " ")
}

// Kubernetes and csisim find the same mistakes in objects that were changed at random.
func TestTheSameMistakes(t *testing.T) {
	found := map[string]string{}
	made, wrong := 0, 0
	run := func(seed uint64) {
		for i, obj := range objects(t) {
			g := generator{rand.New(rand.NewPCG(seed, uint64(i)))}
			s := newStore()
			name := obj.GetObjectKind().GroupVersionKind().Kind
			for range *rounds {
				changed := obj.DeepCopyObject().(store.Object)
				for range 1 + g.IntN(3) {
					g.mutate(reflect.ValueOf(changed).Elem(), 0)
				}
				theirs, ours := mistakes(create(changed)), mistakes(validate(s, changed))
				made++
				if len(theirs) > 0 {
					wrong++
				}
				for _, d := range compare(name, theirs, ours) {
					if _, ok := found[d.signature()]; !ok {
						found[d.signature()] = d.what
					}
				}
			}
		}
	}
	began := time.Now()
	for s := *seed; ; s++ {
		run(s)
		if time.Since(began) >= *budget {
			t.Logf("%d objects, %d of them wrong, seeds %d to %d", made, wrong, *seed, s)
			break
		}
	}
	require.Greater(t, wrong, made/10, "a generator that makes no mistakes finds none")
	require.Less(t, wrong, made*9/10, "nor does one that makes nothing else")
	report(t, found)
}

func validate(s *store.Store, obj store.Object) error {
	res, err := store.ResourceOf(obj)
	if err != nil {
		return err
	}
	return s.Validate(res, obj)
}

// compare tells what one side alone says, each as often as it does.
func compare(kind string, theirs, ours []string) (all []difference) {
	count := map[string]int{}
	for _, m := range theirs {
		count[m]++
	}
	for _, m := range ours {
		count[m]--
	}
	for _, m := range slices.Sorted(maps.Keys(count)) {
		switch {
		case count[m] > 0:
			all = append(all, difference{kind, "missed", m})
		case count[m] < 0:
			all = append(all, difference{kind, "invented", m})
		}
	}
	return all
}
