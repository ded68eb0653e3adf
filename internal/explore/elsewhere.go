package explore

import (
	"bytes"
	"context"
	"encoding/gob"
	"fmt"
)

// Elsewhere is the way to a Maker in another process.
type Elsewhere interface {
	// Make has the Maker make the run that it is assigned, and returns what came of it.
	Make(ctx context.Context, assigned []byte) (made []byte, err error)
	// Close ends the way when no run is being made.
	Close()
}

// setup is what a Maker needs to know of the search.
type setup struct {
	Options Options
	Calm    known
}

// assignment is a run to be made.
type assignment struct {
	Run    uint64
	Course course
}

// Maker makes runs of a search that another process keeps.
type Maker struct{ here }

// NewMaker makes one of the subject, as the setup of the search says.
func NewMaker(subject Subject, searched []byte) (*Maker, error) {
	var s setup
	if err := unpack(searched, &s); err != nil {
		return nil, fmt.Errorf("read how to search: %w", err)
	}
	return &Maker{here{plan: newPlan(s.Options, s.Calm), subject: subject}}, nil
}

// Make makes the run that it is assigned. What is the subject's own in what it shows stays in this process.
func (m *Maker) Make(ctx context.Context, assigned []byte) ([]byte, error) {
	var a assignment
	if err := unpack(assigned, &a); err != nil {
		return nil, fmt.Errorf("read which run to make: %w", err)
	}
	made, err := m.make(ctx, a.Run, a.Course)
	if err != nil {
		return nil, err
	}
	made.Shown.More = nil
	return pack(made)
}

// Close ends it.
func (m *Maker) Close() { m.close() }

// away makes runs in another process.
type away struct{ to Elsewhere }

func (s *Search) elsewhere() (maker, error) {
	o := s.options
	o.Kept = nil // runs that are assigned have their choices
	searched, err := pack(setup{o, s.plan.known})
	if err != nil {
		return nil, fmt.Errorf("write how to search: %w", err)
	}
	to, err := o.Elsewhere(searched)
	return away{to}, err
}

func (a away) make(ctx context.Context, run uint64, c course) (came made, err error) {
	assigned, err := pack(assignment{run, c})
	if err != nil {
		return came, fmt.Errorf("write which run to make: %w", err)
	}
	answer, err := a.to.Make(ctx, assigned)
	if err != nil {
		return came, err
	}
	if err := unpack(answer, &came); err != nil {
		return came, fmt.Errorf("read what came of a run: %w", err)
	}
	return came, nil
}

func (a away) close() { a.to.Close() }

func pack(value any) ([]byte, error) {
	var packed bytes.Buffer
	err := gob.NewEncoder(&packed).Encode(value)
	return packed.Bytes(), err
}

func unpack(packed []byte, into any) error {
	return gob.NewDecoder(bytes.NewReader(packed)).Decode(into)
}
