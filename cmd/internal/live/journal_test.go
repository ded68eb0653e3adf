package live

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/csisim/csisim/internal/api/kind"
	"github.com/csisim/csisim/internal/world/store"
)

// journalOf returns the journal of a new store.
func journalOf(t *testing.T) (*journal, *store.Store) {
	j := &journal{path: filepath.Join(t.TempDir(), journalName), header: journalHeader{Format: journalFormat, Starts: 1}, failed: func(err error) { t.Error(err) }}
	s := kind.NewStore(store.Options{})
	require.NoError(t, j.follow(s))
	return j, s
}

func settings(name string) *corev1.ConfigMap {
	return &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: "default"}}
}

// Given objects that were created, changed and deleted, when another store is made from the
// journal, then it has the same objects, and new objects get new uids and higher versions.
func TestAJournalHoldsTheObjectsOfAStore(t *testing.T) {
	j, s := journalOf(t)
	for _, name := range []string{"a", "b"} {
		_, err := store.Create(s, settings(name))
		require.NoError(t, err)
	}
	changed, err := store.Modify(s, store.Key{Namespace: "default", Name: "a"}, func(c *corev1.ConfigMap) { c.Data = map[string]string{"k": "v"} })
	require.NoError(t, err)
	_, err = store.Delete[*corev1.ConfigMap](s, store.Key{Namespace: "default", Name: "b"})
	require.NoError(t, err)

	kept, err := readJournal(j.path)
	require.NoError(t, err)
	assert.False(t, kept.torn)
	next := kind.NewStore(store.Options{Starts: 1})
	require.NoError(t, kept.restore(next))
	assert.Equal(t, s.Revision(), next.Revision())
	restored, _ := store.Get[*corev1.ConfigMap](next, store.KeyOf(changed))
	assert.True(t, equality.Semantic.DeepEqual(changed, restored), "%v, then %v", changed, restored)
	uids := map[types.UID]bool{}
	for obj := range store.List[*corev1.ConfigMap](next, "") {
		uids[obj.UID] = true
	}
	assert.Len(t, uids, 1)
	for range 3 {
		made, err := store.Create(next, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{GenerateName: "c-", Namespace: "default"}})
		require.NoError(t, err)
		assert.NotContains(t, uids, made.UID)
		assert.Greater(t, len(made.ResourceVersion), 0)
	}
	assert.Equal(t, s.Revision()+3, next.Revision())
}

// Given a kill during a write, then the journal holds all writes before it.
func TestAJournalIgnoresATornLastLine(t *testing.T) {
	j, s := journalOf(t)
	_, err := store.Create(s, settings("a"))
	require.NoError(t, err)
	whole, err := os.ReadFile(j.path)
	require.NoError(t, err)
	_, err = store.Create(s, settings("b"))
	require.NoError(t, err)
	require.NoError(t, os.Truncate(j.path, int64(len(whole)+20)))

	kept, err := readJournal(j.path)
	require.NoError(t, err)
	assert.True(t, kept.torn)
	assert.Contains(t, kept.lines, "configmaps default/a")
	assert.NotContains(t, kept.lines, "configmaps default/b")
}

// An incomplete line before the end of the file does not result from a kill.
func TestAJournalNamesALineThatIsNoObject(t *testing.T) {
	j, _ := journalOf(t)
	file, err := os.OpenFile(j.path, os.O_APPEND|os.O_WRONLY, 0)
	require.NoError(t, err)
	_, err = file.WriteString("{\n{}\n")
	require.NoError(t, err)
	require.NoError(t, file.Close())
	_, err = readJournal(j.path)
	assert.ErrorContains(t, err, `cluster.json:4: found "{\n", want an object`)
}

// The journal of a long-running cluster does not grow without bound.
func TestAJournalBeginsAnewWhenItHasManyWrites(t *testing.T) {
	j, s := journalOf(t)
	_, err := store.Create(s, settings("a"))
	require.NoError(t, err)
	for range 5 {
		_, err := store.Modify(s, store.Key{Namespace: "default", Name: "a"}, func(c *corev1.ConfigMap) {
			c.Data = map[string]string{"n": c.ResourceVersion}
		})
		require.NoError(t, err)
	}
	long, err := os.Stat(j.path)
	require.NoError(t, err)
	j.written = mostWritten
	_, err = store.Create(s, settings("b"))
	require.NoError(t, err)
	short, err := os.Stat(j.path)
	require.NoError(t, err)
	assert.Less(t, short.Size(), long.Size())
	kept, err := readJournal(j.path)
	require.NoError(t, err)
	assert.Contains(t, kept.lines, "configmaps default/b")
}

// A cluster must not continue without its journal.
func TestAWriteThatCannotBeKeptIsReported(t *testing.T) {
	j, s := journalOf(t)
	var failed error
	j.failed = func(err error) { failed = err }
	require.NoError(t, j.file.Close())
	_, err := store.Create(s, settings("a"))
	require.NoError(t, err)
	assert.ErrorContains(t, failed, "keeping the objects: write "+j.path+": file already closed")
}

// The clock of a cluster never runs backwards, and runs ahead of the real one only with --speed.
func TestTheClockOfAKeptClusterContinues(t *testing.T) {
	now := time.Date(2026, time.March, 1, 12, 0, 0, 0, time.UTC)
	for _, c := range []struct {
		name              string
		last, start, wait time.Duration // relative to now
	}{
		{"long ago", -time.Hour, -bootTime, 0},
		{"just now", -time.Second, -time.Second, bootTime - time.Second},
		{"by a fast clock", time.Hour, time.Hour, 0},
	} {
		start, wait := startOf(now.Add(c.last), now)
		assert.Equal(t, now.Add(c.start), start, c.name)
		assert.Equal(t, c.wait, wait, c.name)
	}
	start, wait := startOf(time.Time{}, now)
	assert.Equal(t, now.Add(-bootTime), start, "a new cluster")
	assert.Zero(t, wait)
}
