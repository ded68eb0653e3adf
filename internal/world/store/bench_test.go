package store_test

import (
	"fmt"
	"strconv"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/csisim/csisim/internal/api/kind"
	"github.com/csisim/csisim/internal/api/kind/kindtest"
	"github.com/csisim/csisim/internal/world/store"
)

var sizes = []int{100, 10_000}

func benchmark(b *testing.B, run func(b *testing.B, s *store.Store, size int)) {
	for _, size := range sizes {
		b.Run(strconv.Itoa(size), func(b *testing.B) {
			s := kind.NewStore(store.Options{})
			for i := range size {
				kindtest.Create(b, s, kindtest.Pod(fmt.Sprintf("pod-%05d", i), kindtest.OnNode(fmt.Sprintf("node-%d", i%(size/10)))))
			}
			b.ReportAllocs()
			b.ResetTimer()
			run(b, s, size)
		})
	}
}

func nth(i, size int) store.Key {
	return store.Key{Namespace: "default", Name: fmt.Sprintf("pod-%05d", i%size)}
}

func BenchmarkCreate(b *testing.B) {
	benchmark(b, func(b *testing.B, s *store.Store, _ int) {
		p := kindtest.Pod("x", kindtest.OnNode("node-1"))
		for i := range b.N {
			p.Name = "new-" + strconv.Itoa(i)
			kindtest.Create(b, s, p)
		}
	})
}

func BenchmarkUpdate(b *testing.B) {
	benchmark(b, func(b *testing.B, s *store.Store, size int) {
		for i := range b.N {
			old, _ := store.Get[*corev1.Pod](s, nth(i, size))
			next := *old
			next.Labels = map[string]string{"n": strconv.Itoa(i)}
			if _, err := store.Update(s, &next); err != nil {
				b.Fatal(err)
			}
		}
	})
}

func BenchmarkModifyStatus(b *testing.B) {
	benchmark(b, func(b *testing.B, s *store.Store, size int) {
		for i := range b.N {
			_, err := store.ModifyStatus(s, nth(i, size), func(p *corev1.Pod) { p.Status.Message = strconv.Itoa(i) })
			if err != nil {
				b.Fatal(err)
			}
		}
	})
}

func BenchmarkCreateClaim(b *testing.B) {
	benchmark(b, func(b *testing.B, s *store.Store, _ int) {
		c := kindtest.Claim("x")
		for i := range b.N {
			c.Name = "new-" + strconv.Itoa(i)
			kindtest.Create(b, s, c)
		}
	})
}

func BenchmarkGet(b *testing.B) {
	benchmark(b, func(b *testing.B, s *store.Store, size int) {
		key := nth(size/2, size)
		for range b.N {
			if _, ok := store.Get[*corev1.Pod](s, key); !ok {
				b.Fatal("missing")
			}
		}
	})
}

func BenchmarkGetByIndex(b *testing.B) {
	benchmark(b, func(b *testing.B, s *store.Store, _ int) {
		for range b.N {
			for range store.Indexed[*corev1.Pod](s, kind.PodsByNode, "node-3") {
				break
			}
		}
	})
}

func BenchmarkListByIndex(b *testing.B) {
	benchmark(b, func(b *testing.B, s *store.Store, _ int) {
		for range b.N {
			for range store.Indexed[*corev1.Pod](s, kind.PodsByNode, "node-3") {
			}
		}
	})
}

func BenchmarkSnapshot(b *testing.B) {
	benchmark(b, func(b *testing.B, s *store.Store, _ int) {
		for range b.N {
			s.Snapshot()
		}
	})
}

func BenchmarkNew(b *testing.B) {
	for range b.N {
		kind.NewStore(store.Options{})
	}
}

func BenchmarkCommitWithThousandViews(b *testing.B) {
	benchmark(b, func(b *testing.B, s *store.Store, size int) {
		for i := range 1000 {
			store.Watch[*corev1.Pod](s.NewView("kubelet"), store.ByIndex(kind.PodsByNode, fmt.Sprintf("node-%d", i)))
		}
		b.ResetTimer()
		for i := range b.N {
			_, err := store.ModifyStatus(s, nth(i, size), func(p *corev1.Pod) { p.Status.Message = strconv.Itoa(i) })
			if err != nil {
				b.Fatal(err)
			}
		}
	})
}
