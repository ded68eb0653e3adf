package main

import (
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/csisim/csisim/cmd/internal/check"
)

// baseline reads the known findings, if a file is named.
func (c *checking) baseline() (*check.Known, error) {
	if c.flags.known == "" {
		return nil, nil
	}
	known, err := check.ReadKnown(c.flags.known)
	if err != nil {
		return nil, usage("--known %s: %w", c.flags.known, err)
	}
	return known, nil
}

// isOf rejects a baseline of another driver.
func isOf(known *check.Known, facts *check.Facts) error {
	if known != nil && known.Driver != facts.Name {
		return usage("--known: these are findings of driver %s, and this is %s", known.Driver, facts.Name)
	}
	return nil
}

// writeKnown writes the findings as a baseline. The findings of this check then count as known,
// unless another baseline lists the known findings.
func (c *checking) writeKnown(card *check.Card) error {
	if c.flags.writeKnown == "" {
		return nil
	}
	before := card.Known
	if before == nil {
		var err error
		if before, err = check.ReadKnown(c.flags.writeKnown); err != nil && !isEmptyFile(c.flags.writeKnown) {
			return fmt.Errorf("write known findings: %w", err)
		}
	}
	err := writeFile(c.flags.writeKnown, "known findings", func(w io.Writer) error { return card.WriteKnown(w, before) })
	if err == nil && c.flags.known == "" {
		card.Known, err = check.ReadKnown(c.flags.writeKnown)
	}
	return err
}

// isEmptyFile reports whether a file is empty or does not exist.
func isEmptyFile(name string) bool {
	info, err := os.Stat(name)
	return errors.Is(err, os.ErrNotExist) || err == nil && info.Size() == 0
}
