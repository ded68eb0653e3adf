package component_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/csisim/csisim/internal/api/kind"
	"github.com/csisim/csisim/internal/world/component"
	"github.com/csisim/csisim/internal/world/kernel"
	"github.com/csisim/csisim/internal/world/store"
	"github.com/csisim/csisim/internal/world/trace"
)

func TestEachRequestTakesTheTimeOfThePace(t *testing.T) {
	k := kernel.New(kernel.Options{})
	defer k.Close()
	w := component.NewWorld(k, kind.NewStore(store.Options{}), trace.NewRecorder(k))
	c, pace := w.Start("slow", ""), &component.Pace{Request: 2 * time.Second}
	c.SetPace(pace)
	var at []time.Duration
	c.Go("work", func(p *kernel.Process) {
		for _, name := range []string{"a", "b", "c"} {
			_, err := component.Create(p, c, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: "default"}})
			require.NoError(t, err)
			at = append(at, p.Elapsed())
			if name == "b" {
				pace.Request = 0
			}
		}
	})
	k.Run(kernel.Until{At: time.Minute})
	assert.Equal(t, []time.Duration{2 * time.Second, 4 * time.Second, 4 * time.Second}, at)
}
