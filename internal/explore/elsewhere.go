package explore

import (
	"bytes"
	"context"
	"encoding/gob"
	"fmt"
)

// Elsewhere is the connection to a Maker in another process.
type Elsewhere interface {
	// Make sends an assigned run to the Maker, and returns the run's result.
	Make(ctx context.Context, assigned []byte) (made []byte, err error)
	// Close closes the connection while no run is under way.
	Close()
}

// setup is the information about the search that a Maker needs.
type setup struct {
	Options Options
	Calm    known
}

// assignment is a run to be made.
type assignment struct {
	Run    uint64
	Course course
}

// Maker makes runs of a search in another process.
type Maker struct{ here }

// NewMaker returns a Maker for the subject, with the setup of the search.
func NewMaker(subject Subject, searched []byte) (*Maker, error) {
	var s setup
	if err := unpack(searched, &s); err != nil {
		return nil, fmt.Errorf("read how to search: %w", err)
	}
	return &Maker{here{plan: newPlan(s.Options, s.Calm), subject: subject}}, nil
}

// Make makes the assigned run. The subject's own data about findings stays in this process.
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

// Close releases the Maker's resources.
func (m *Maker) Close() { m.close() }

// away makes runs in another process.
type away struct{ to Elsewhere }

func (s *Search) elsewhere() (maker, error) {
	o := s.options
	o.Kept = nil // assigned runs contain their choices
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
		return came, fmt.Errorf("read the result of a run: %w", err)
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
