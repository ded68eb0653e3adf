package oracle

import (
	"bufio"
	"bytes"
	"errors"
	"flag"
	"io"
	"maps"
	"math/rand/v2"
	"os"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/util/yaml"
	"k8s.io/client-go/kubernetes/scheme"

	"github.com/csisim/csisim/internal/world/store"
)

var (
	seed   = flag.Uint64("seed", 1, "which objects are made")
	rounds = flag.Int("rounds", 100, "how many objects are made of each that is given")
	budget = flag.Duration("for", 0, "go on with further seeds for so long")
	only   = flag.String("kind", "", "only objects of this kind")
)

// objects returns the initial objects of the generator.
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
		obj, gvk, err := scheme.Codecs.UniversalDeserializer().Decode(document, nil, nil)
		require.NoError(t, err)
		if *only == "" || gvk.Kind == *only {
			all = append(all, obj.(store.Object))
		}
	}
}

// search counts the comparisons, and holds one unexplained difference for each signature.
type search struct {
	reasons        reasons
	found          map[string]string
	writes, wrong  int
	first, further uint64
}

// each runs a comparison for each object of the file, with new seeds until the budget is used up.
func each(t *testing.T, compare func(s *search, g generator, obj store.Object)) *search {
	t.Helper()
	s := &search{reasons: readReasons(t), found: map[string]string{}, first: *seed}
	began, all := time.Now(), objects(t)
	for s.further = *seed; ; s.further++ {
		for i, obj := range all {
			g := generator{rand.New(rand.NewPCG(s.further, uint64(i)))}
			for range *rounds {
				compare(s, g, obj.DeepCopyObject().(store.Object))
			}
		}
		if time.Since(began) >= *budget/4 { // there are four comparisons
			break
		}
	}
	t.Logf("%d compared, %d of them refused, seeds %d to %d", s.writes, s.wrong, s.first, s.further)
	return s
}

func (s *search) add(differences []difference) {
	for _, d := range differences {
		signature := d.signature()
		if _, known := s.found[signature]; !known && !s.reasons.explain(signature, d.what) {
			s.found[signature] = d.what
		}
	}
}

func (s *search) write(theirs outcome, differences []difference) {
	s.writes++
	if theirs.mistakes != nil {
		s.wrong++
	}
	s.add(differences)
}

// report fails the test for differences without a reason.
func (s *search) report(t *testing.T) {
	t.Helper()
	for _, signature := range slices.Sorted(maps.Keys(s.found)) {
		t.Errorf("%s\n\t%s", signature, s.found[signature])
	}
}

// mixed fails the test if the generator makes almost no mistakes, or almost only mistakes.
func (s *search) mixed(t *testing.T) {
	t.Helper()
	require.Greater(t, s.wrong, s.writes/10)
	require.Less(t, s.wrong, s.writes*9/10)
}

// servedAs returns the API of an object, and the name under which its differences are listed: the
// kind and, for another served form, the group.
func servedAs(t *testing.T, obj store.Object) (a apiKind, name string) {
	t.Helper()
	a, err := apiOf(obj)
	require.NoError(t, err)
	if name = a.GVK.Kind; a.form != nil {
		name = a.form.Group + " " + name
	}
	return a, name
}

// TestCreation compares mistakes, defaults, dropped fields and warnings of new objects.
func TestCreation(t *testing.T) {
	cluster := newStore()
	s := each(t, func(s *search, g generator, obj store.Object) {
		api, kind := servedAs(t, obj)
		g.object(obj)
		s.write(compareWrites("", kind, func() outcome { return create(obj) }, func() outcome { return created(cluster, api, obj) }))
	})
	s.mixed(t)
	s.report(t)
}

// TestUpdate compares changes of objects and of their status.
func TestUpdate(t *testing.T) {
	s := each(t, func(s *search, g generator, obj store.Object) {
		api, kind := servedAs(t, obj)
		cluster := newStore()
		old := g.existing(cluster, api, obj)
		if old == nil {
			return
		}
		changed := old.DeepCopyObject().(store.Object)
		g.object(changed)
		changed.SetName(old.GetName())
		changed.SetNamespace(old.GetNamespace())
		s.write(compareWrites("update of", kind,
			func() outcome { return update(servedOf(obj).strategy, changed, old) },
			func() outcome { return updated(cluster, api, changed, old, false) }))
		if !api.Status {
			return
		}
		changed = old.DeepCopyObject().(store.Object)
		g.status(changed)
		s.write(compareWrites("status of", kind,
			func() outcome { return update(servedOf(obj).status, changed, old) },
			func() outcome { return updated(cluster, api, changed, old, true) }))
	})
	s.mixed(t)
	s.report(t)
}

// existing returns an existing object; nil if there is none. Half of these objects have a status.
func (g generator) existing(cluster *store.Store, a apiKind, obj store.Object) store.Object {
	if g.IntN(2) == 0 {
		g.object(obj)
	}
	if create(obj).mistakes != nil {
		return nil
	}
	old, err := cluster.CreateObject(a.Resource, a.accept(obj))
	if err != nil {
		return nil
	}
	if !a.Status || g.IntN(2) == 0 {
		return a.present(old)
	}
	next := old.DeepCopyObject().(store.Object)
	g.status(next)
	if changed, err := cluster.UpdateStatusObject(a.Resource, next); err == nil {
		return a.present(changed)
	}
	return a.present(old)
}

// TestColumns compares the columns that kubectl shows.
func TestColumns(t *testing.T) {
	s := each(t, func(s *search, g generator, obj store.Object) {
		api, kind := servedAs(t, obj)
		g.object(obj)
		g.status(obj)
		obj.SetCreationTimestamp(g.past())
		full, err := stored(obj)
		if err != nil {
			return
		}
		theirs, err := table(full.(store.Object))
		require.NoError(t, err)
		s.writes++
		s.add(compare("column of "+kind, theirs, shown(api, full.(store.Object), time.Now())))
	})
	require.Positive(t, s.writes)
	s.report(t)
}
