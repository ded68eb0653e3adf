package main

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// pairsFlag is a flag that is given once for each KEY=VALUE; a value may have commas,
// quotes and further equals signs.
type pairsFlag map[string]string

// Set takes one more pair.
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

// Type names it in help texts.
func (*pairsFlag) Type() string { return "KEY=VALUE" }

// String is empty: there is no default that help could show.
func (p *pairsFlag) String() string { return strings.Join(p.words(), " ") }

// words are the values with which the flag was given, one for each time.
func (p *pairsFlag) words() (words []string) {
	for _, key := range slices.Sorted(maps.Keys(*p)) {
		words = append(words, key+"="+(*p)[key])
	}
	return words
}
