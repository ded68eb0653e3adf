package kind_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/csisim/csisim/internal/api/kind"
	"github.com/csisim/csisim/internal/api/kind/kindtest"
	"github.com/csisim/csisim/internal/world/store"
)

func TestCreateSetsFieldsOfTheServer(t *testing.T) {
	now := time.Date(2026, 1, 2, 3, 4, 5, 678, time.UTC)
	s := kind.NewStore(store.Options{Now: func() time.Time { return now }})
	before := s.Revision()
	given := kindtest.Pod("a")
	given.UID = "mine"
	given.DeletionTimestamp = &metav1.Time{Time: now}

	stored := kindtest.Create(t, s, given)

	assert.Equal(t, before+1, s.Revision())
	assert.Equal(t, "3", stored.ResourceVersion)
	assert.Equal(t, now.Truncate(time.Second), stored.CreationTimestamp.Time, "timestamps are whole seconds")
	assert.NotEqual(t, "mine", string(stored.UID))
	assert.Equal(t, int64(1), stored.Generation)
	assert.Nil(t, stored.DeletionTimestamp)
	assert.Equal(t, metav1.TypeMeta{Kind: "Pod", APIVersion: "v1"}, stored.TypeMeta)
	assert.Equal(t, "mine", string(given.UID), "the caller's object stays as it is")
	given.Labels = map[string]string{"later": "change"}
	again, _ := store.Get[*corev1.Pod](s, kindtest.InDefault("a"))
	assert.Empty(t, again.Labels)
}

func TestKindsWithoutSpecGenerationKeepTheGivenOne(t *testing.T) {
	given := kindtest.Secret("a")
	given.Generation = 7
	assert.Equal(t, int64(7), kindtest.Create(t, kind.NewStore(store.Options{}), given).Generation)
}

func TestGenerateNameAppendsFiveCharacters(t *testing.T) {
	s := kind.NewStore(store.Options{})
	given := kindtest.Secret("")
	given.GenerateName = "gen-"
	first, second := kindtest.Create(t, s, given), kindtest.Create(t, s, given)
	assert.Regexp(t, `^gen-[bcdfghjklmnpqrstvwxz2456789]{5}$`, first.Name)
	assert.NotEqual(t, first.Name, second.Name)

	given.GenerateName = strings.Repeat("x", 80)
	assert.Len(t, kindtest.Create(t, s, given).Name, 63, "a generated name fits into a label")
}

func TestStoresAreDeterministic(t *testing.T) {
	uids := func() (all []string) {
		s := kind.NewStore(store.Options{})
		for _, name := range []string{"a", "b", "c"} {
			all = append(all, string(kindtest.Create(t, s, kindtest.Secret(name)).UID))
		}
		return all
	}
	assert.Equal(t, uids(), uids())
}

func TestCreateRefuses(t *testing.T) {
	named := func(name string, change func(*corev1.Secret)) *corev1.Secret {
		o := kindtest.Secret(name)
		change(o)
		return o
	}
	for rule, c := range map[string]struct {
		given   *corev1.Secret
		reason  metav1.StatusReason
		message string
	}{
		"a name that is taken":                      {kindtest.Secret("taken"), metav1.StatusReasonAlreadyExists, `secrets "taken" already exists`},
		"a name of an object that is being deleted": {kindtest.Secret("going"), metav1.StatusReasonAlreadyExists, `object is being deleted: secrets "going" already exists`},
		"no name": {kindtest.Secret(""), metav1.StatusReasonInvalid, `Secret "" is invalid: metadata.name: Required value: name or generateName is required`},
		"a name that is no DNS subdomain": {kindtest.Secret("UPPER"), metav1.StatusReasonInvalid,
			`Secret "UPPER" is invalid: metadata.name: Invalid value: "UPPER": a lowercase RFC 1123 subdomain`},
		"a resource version": {named("a", func(o *corev1.Secret) { o.ResourceVersion = "1" }), metav1.StatusReasonUnknown,
			"resourceVersion should not be set on objects to be created"},
		"a namespace that is missing": {named("a", func(o *corev1.Secret) { o.Namespace = "nowhere" }), metav1.StatusReasonNotFound,
			`namespaces "nowhere" not found`},
		"a namespace that is being deleted": {named("a", func(o *corev1.Secret) { o.Namespace = "leaving" }), metav1.StatusReasonForbidden,
			`secrets "a" is forbidden: unable to create new content in namespace leaving because it is being terminated`},
		"a finalizer without domain": {named("a", func(o *corev1.Secret) { o.Finalizers = []string{"hold"} }), metav1.StatusReasonInvalid,
			`metadata.finalizers[0]: Invalid value: "hold": name is neither a standard finalizer name nor is it fully qualified`},
	} {
		t.Run(rule, func(t *testing.T) {
			s := kind.NewStore(store.Options{})
			kindtest.Create(t, s, kindtest.Secret("taken"))
			kindtest.Create(t, s, named("going", func(o *corev1.Secret) { o.Finalizers = []string{"example.com/hold"} }))
			kindtest.Remove[*corev1.Secret](t, s, kindtest.InDefault("going"))
			kindtest.Create(t, s, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "leaving"}})
			kindtest.Remove[*corev1.Namespace](t, s, kindtest.OfCluster("leaving"))
			before := s.Revision()

			_, err := store.Create(s, c.given)

			require.ErrorContains(t, err, c.message)
			assert.Equal(t, c.reason, apierrors.ReasonForError(err))
			assert.Equal(t, before, s.Revision(), "a refused write is no revision")
		})
	}
}

func TestFieldErrorsHaveAFixedOrder(t *testing.T) {
	given := kindtest.Secret("a")
	given.Labels = map[string]string{"a b": "", "c d": "", "e f": "", "g h": ""}
	_, want := store.Create(kind.NewStore(store.Options{}), given)
	for range 20 {
		_, err := store.Create(kind.NewStore(store.Options{}), given)
		require.EqualError(t, err, want.Error())
	}
}

func TestANamespaceIsRemovedWithItsLastFinalizer(t *testing.T) {
	s := kind.NewStore(store.Options{})
	last := kindtest.Remove[*corev1.Namespace](t, s, kindtest.OfCluster("default"))
	assert.Equal(t, corev1.NamespaceTerminating, last.Status.Phase)
	kindtest.Remove[*corev1.Namespace](t, s, kindtest.OfCluster("default"))
	_, ok := store.Get[*corev1.Namespace](s, kindtest.OfCluster("default"))
	require.True(t, ok, "spec.finalizers hold it")

	_, err := kind.FinalizeNamespace(s, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "default"}}, false)
	require.NoError(t, err)
	_, ok = store.Get[*corev1.Namespace](s, kindtest.OfCluster("default"))
	assert.False(t, ok)
}
