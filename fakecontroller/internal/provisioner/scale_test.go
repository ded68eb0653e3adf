package provisioner_test

import (
	"fmt"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/csisim/csisim/drivers/mock"
	"github.com/csisim/csisim/fakecontroller/internal/provisioner"
	"github.com/csisim/csisim/internal/world/kernel"
	"github.com/csisim/csisim/internal/world/store"
)

// The lifecycle of a volume with a pod has the same cost for any number of other volumes.
func BenchmarkVolumeLife(b *testing.B) {
	for _, others := range []int{100, 10_000} {
		b.Run(fmt.Sprint(others, " volumes"), func(b *testing.B) {
			w := newWorldWith(b, kernel.Options{}, store.Options{}, mock.Options{}, provisioner.Options{})
			for i := range max(1, others/100) {
				w.node(fmt.Sprintf("n%04d", i))
			}
			w.class("stub")
			for i := range others {
				w.claim(fmt.Sprint("old", i), "stub")
				w.pod(fmt.Sprint("old", i), fmt.Sprint("old", i), "")
				w.Run(10 * time.Millisecond)
			}
			for i := 0; b.Loop(); i++ {
				name := fmt.Sprint("new", i)
				w.claim(name, "stub")
				w.pod(name, name, "")
				w.Run(10 * time.Millisecond)
				if _, err := store.Delete[*corev1.Pod](w.Store, store.Key{Namespace: "default", Name: name}, store.GracePeriod(0)); err != nil {
					b.Fatal(err)
				}
				w.deleteClaim(name)
				w.Run(10 * time.Millisecond)
			}
		})
	}
}
