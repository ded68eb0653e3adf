package provisioner

import (
	"cmp"
	"hash/fnv"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/container-storage-interface/spec/lib/go/csi"
	corev1 "k8s.io/api/core/v1"
)

// term is one topology segment: labels in the order of their keys.
type term []label

type label struct{ key, value string }

func termOf(labels map[string]string) term {
	t := make(term, 0, len(labels))
	for _, key := range slices.Sorted(maps.Keys(labels)) {
		t = append(t, label{key, labels[key]})
	}
	return t
}

// segmentOf returns the labels with these keys, and false if one is missing.
func segmentOf(labels map[string]string, keys []string) (term, bool) {
	segment := map[string]string{}
	for _, key := range keys {
		value, ok := labels[key]
		if !ok {
			return nil, false
		}
		segment[key] = value
	}
	return termOf(segment), true
}

// within reports whether the segment has all labels of t.
func (t term) within(segment term) bool {
	for _, l := range t {
		if !slices.Contains(segment, l) {
			return false
		}
	}
	return true
}

func compareTerms(a, b term) int {
	return cmp.Or(cmp.Compare(len(a), len(b)), slices.CompareFunc(a, b, func(x, y label) int {
		return cmp.Or(cmp.Compare(x.key, y.key), cmp.Compare(x.value, y.value))
	}))
}

// distinct sorts terms by length, key and value, and removes duplicates. C-PROV-33
func distinct(terms []term) []term {
	slices.SortFunc(terms, compareTerms)
	return slices.CompactFunc(terms, func(a, b term) bool { return compareTerms(a, b) == 0 })
}

// flatten returns all combinations of the allowed topologies of a class.
func flatten(allowed []corev1.TopologySelectorTerm) []term {
	var terms []term
	for _, selector := range allowed {
		combinations := []map[string]string{{}}
		for _, expression := range selector.MatchLabelExpressions {
			var longer []map[string]string
			for _, before := range combinations {
				for _, value := range expression.Values {
					c := maps.Clone(before)
					c[expression.Key] = value
					longer = append(longer, c)
				}
			}
			combinations = longer
		}
		for _, c := range combinations {
			terms = append(terms, termOf(c))
		}
	}
	return distinct(terms)
}

// startingAt rotates terms so that term i is first.
func startingAt(terms []term, i int) []term {
	return append(slices.Clone(terms[i:]), terms[:i]...)
}

// spread chooses the first term by the claim's name, so that the claims of a StatefulSet use the
// segments one after the other. C-PROV-32
func spread(claimName string, n int) int {
	hashed, index := claimName, uint32(0)
	if dash := strings.LastIndexByte(claimName, '-'); dash >= 0 {
		if ordinal, err := strconv.ParseUint(claimName[dash+1:], 10, 32); err == nil {
			index = uint32(ordinal)
			hashed = claimName[:dash]
			hashed = hashed[strings.LastIndexByte(hashed, '-')+1:]
		}
	}
	h := fnv.New32()
	h.Write([]byte(hashed))
	return int((h.Sum32() + index) % uint32(n))
}

func topologies(terms []term) []*csi.Topology {
	var list []*csi.Topology
	for _, t := range terms {
		segments := map[string]string{}
		for _, l := range t {
			segments[l.key] = l.value
		}
		list = append(list, &csi.Topology{Segments: segments})
	}
	return list
}

// affinityOf restricts a volume to the nodes with its accessible topology. C-PROV-33
func affinityOf(accessible []*csi.Topology) *corev1.VolumeNodeAffinity {
	if len(accessible) == 0 {
		return nil
	}
	required := &corev1.NodeSelector{}
	for _, topology := range accessible {
		var expressions []corev1.NodeSelectorRequirement
		for _, l := range termOf(topology.GetSegments()) {
			expressions = append(expressions, corev1.NodeSelectorRequirement{Key: l.key, Operator: corev1.NodeSelectorOpIn, Values: []string{l.value}})
		}
		if len(expressions) > 0 {
			required.NodeSelectorTerms = append(required.NodeSelectorTerms, corev1.NodeSelectorTerm{MatchExpressions: expressions})
		}
	}
	return &corev1.VolumeNodeAffinity{Required: required}
}
