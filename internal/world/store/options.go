package store

import (
	"encoding/binary"
	"hash/fnv"
	"time"

	"k8s.io/apimachinery/pkg/types"
)

// Epoch is the time of a store without a clock.
var Epoch = time.Date(2026, time.January, 1, 0, 0, 0, 0, time.UTC)

// Options configure a store's clock and names. The zero value works and is deterministic.
type Options struct {
	// Now is the clock for creation and deletion timestamps. Default: always Epoch.
	Now func() time.Time
	// Names seeds object UIDs, so that stores with different Names never share one. Default: all
	// stores make the same UIDs.
	Names string
	// Starts is the number of stores before this one with the same Names and objects: see
	// Store.Restore. Uids and suffixes differ between these stores. Default: 0.
	Starts uint32
	// UID generates the uid of a new object of the named resource ("pods"). Default: UUID-shaped,
	// derived from the number of earlier objects.
	UID func(resource string) types.UID
	// Suffix makes the five characters that generateName appends. Default: derived from the number
	// of earlier names.
	Suffix func() string
	// History is the number of past revisions that At can return, besides the head. Each costs some
	// 20 KB. Default 0.
	History int
	// Guard records a hash of every stored object, for VerifyImmutable. It encodes each written
	// object. Default off.
	Guard bool
}

func (o Options) withDefaults() Options {
	if o.Now == nil {
		o.Now = func() time.Time { return Epoch }
	}
	if o.UID == nil {
		o.UID = countedUIDs(o.Names, o.first())
	}
	if o.Suffix == nil {
		o.Suffix = countedSuffixes(o.first())
	}
	return o
}

// first returns the number after which uids and suffixes are counted.
func (o Options) first() uint64 { return uint64(o.Starts) << 32 }

func countedUIDs(names string, count uint64) func(string) types.UID {
	shape := []byte("00000000-0000-4000-8000-000000000000")
	if names != "" {
		h := fnv.New64a()
		_, _ = h.Write([]byte(names))
		putHex(shape[9:13], h.Sum64())
		putHex(shape[15:18], h.Sum64()>>16)
		putHex(shape[20:23], h.Sum64()>>28)
	}
	return func(string) types.UID {
		count++
		putHex(shape[:8], uint64(uint32(scatter(count))))
		putHex(shape[24:], count)
		return types.UID(shape)
	}
}

// putHex overwrites text with the low hexadecimal digits of a number.
func putHex(text []byte, number uint64) {
	for i := len(text) - 1; i >= 0; i-- {
		text[i] = "0123456789abcdef"[number&15]
		number >>= 4
	}
}

// suffixAlphabet is the alphabet of generated names in k8s.io/apimachinery. It lacks vowels and
// similar digits, so that no words appear.
const suffixAlphabet = "bcdfghjklmnpqrstvwxz2456789"

func countedSuffixes(count uint64) func() string {
	return func() string {
		count++
		rest := scatter(count)
		suffix := make([]byte, 5)
		for i := range suffix {
			suffix[i] = suffixAlphabet[rest%uint64(len(suffixAlphabet))]
			rest /= uint64(len(suffixAlphabet))
		}
		return string(suffix)
	}
}

// scatter turns neighbouring counts into numbers that look unrelated.
func scatter(count uint64) uint64 {
	h := fnv.New64a()
	_, _ = h.Write(binary.BigEndian.AppendUint64(nil, count))
	return h.Sum64()
}
