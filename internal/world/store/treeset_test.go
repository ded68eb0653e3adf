package store

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

func TestTreeSetIsASortedSetWhoseKeptVersionsStay(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		type version struct {
			set  *treeSet
			want []string
		}
		now := version{nil, []string{}}
		kept := []version{now}
		current := edition(0)
		for range rapid.IntRange(1, 60).Draw(t, "steps") {
			element := rapid.StringMatching(`[ab]{1,3}`).Draw(t, "element")
			i, found := slices.BinarySearch(now.want, element)
			want := append([]string{}, now.want...)
			switch {
			case rapid.Bool().Draw(t, "add"):
				if !found {
					want = slices.Insert(want, i, element)
				}
				now = version{now.set.with(element, current), want}
			default:
				if found {
					want = slices.Delete(want, i, i+1)
				}
				now = version{now.set.without(element, current), want}
			}
			if rapid.Bool().Draw(t, "keep") {
				kept = append(kept, now)
				current++
			}
		}
		prefix := rapid.StringMatching(`[ab]{0,2}`).Draw(t, "prefix")
		for _, v := range append(kept, now) {
			require.Equal(t, v.want, slices.AppendSeq([]string{}, v.set.after("")))
			under := []string{}
			for _, element := range v.want {
				if rest, ok := strings.CutPrefix(element, prefix); ok {
					under = append(under, rest)
				}
			}
			require.Equal(t, under, slices.AppendSeq([]string{}, v.set.after(prefix)))
		}
	})
}
