package store

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

func TestTreeSetIsASortedSetWithStableVersions(t *testing.T) {
	indexes := []*resourceIndex{{Indexer{index: "a"}, "pods"}, {Indexer{index: "b"}, "pods"}, {Indexer{index: "a"}, "claims"}}
	texts := rapid.StringMatching(`[ab]{0,2}`)
	rapid.Check(t, func(t *rapid.T) {
		type version struct {
			set  *treeSet
			want []entry
		}
		now := version{nil, []entry{}}
		kept := []version{now}
		current := edition(0)
		for range rapid.IntRange(1, 60).Draw(t, "steps") {
			one := entry{rapid.SampledFrom(indexes).Draw(t, "index"), texts.Draw(t, "value"), Key{texts.Draw(t, "namespace"), texts.Draw(t, "name")}}
			i, found := slices.BinarySearchFunc(now.want, one, func(a, b entry) int { return a.compare(&b) })
			want := slices.Clone(now.want)
			switch {
			case rapid.Bool().Draw(t, "add"):
				if !found {
					want = slices.Insert(want, i, one)
				}
				now = version{now.set.with(&one, current), want}
			default:
				if found {
					want = slices.Delete(want, i, i+1)
				}
				now = version{now.set.without(&one, current), want}
			}
			if rapid.Bool().Draw(t, "keep") {
				kept = append(kept, now)
				current++
			}
		}
		index, value := rapid.SampledFrom(indexes).Draw(t, "index"), texts.Draw(t, "value")
		for _, v := range append(kept, now) {
			having := []Key{}
			for _, e := range v.want {
				if e.index == index && e.value == value {
					having = append(having, e.key)
				}
			}
			require.Equal(t, having, slices.AppendSeq([]Key{}, v.set.having(index, value)))
		}
	})
}

func TestEntriesOfOneValueAreInTheOrderOfTheDatabase(t *testing.T) {
	index := &resourceIndex{Indexer{index: "a"}, "pods"}
	var set *treeSet
	for _, key := range []Key{{"a", "x"}, {"a-b", "x"}, {"", "b"}, {"a", "w"}} {
		set = set.with(&entry{index, "v", key}, 0)
	}
	require.Equal(t, []Key{{"a-b", "x"}, {"a", "w"}, {"a", "x"}, {"", "b"}}, slices.Collect(set.having(index, "v")))
}
