package main

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// pairsFlag is a flag that is given once for each KEY=VALUE; a value may contain commas, quotes and
// equals signs.
type pairsFlag map[string]string

// Set adds a pair.
func (p *pairsFlag) Set(text string) error {
	key, value, found := strings.Cut(text, "=")
	if !found || key == "" {
		return fmt.Errorf("%q is not KEY=VALUE", text)
	}
	if *p == nil {
		*p = pairsFlag{}
	}
	(*p)[key] = value
	return nil
}

// Type returns the name of the value in help texts.
func (*pairsFlag) Type() string { return "KEY=VALUE" }

// String is empty, since there is no default to show.
func (p *pairsFlag) String() string { return strings.Join(p.words(), " ") }

// words returns the given values as separate arguments.
func (p *pairsFlag) words() (words []string) {
	for _, key := range slices.Sorted(maps.Keys(*p)) {
		words = append(words, key+"="+(*p)[key])
	}
	return words
}
