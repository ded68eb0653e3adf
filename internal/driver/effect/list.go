package effect

import (
	"slices"

	"github.com/csisim/csisim/drivers/fault"
)

// all are the effects, in the order of messages and searches.
var all = []*Effect{
	answer, instead, loseAnswer, delayRequest, delayAnswer, holdRequest, holdAnswer, lateAnswer, timeOut, stall, lateEffect,
	repeat, overlap, contradict, fill, hang, inUse, failMounted, failSystemCall, failRequest, kill, meanwhile,
}

// Fields are the fields of the step fault that select an effect or describe it.
type Fields struct {
	answerFields
	insteadFields
	loseAnswerFields
	delayRequestFields
	delayAnswerFields
	holdRequestFields
	holdAnswerFields
	lateAnswerFields
	timeOutFields
	stallFields
	repeatFields
	overlapFields
	contradictFields
	fillFields
	hangFields
	inUseFields
	failMountedFields
	failSystemCallFields
	failRequestFields
	killFields
}

// All lists the effects.
func All() []*Effect { return slices.Clone(all) }

// FieldNames lists the fields that select an effect.
func FieldNames() (names []string) {
	for _, e := range all {
		if e.Field != "" && !slices.Contains(names, e.Field) {
			names = append(names, e.Field)
		}
	}
	return names
}

// Given lists the effects that the fields of a step select. There should be exactly one.
func (f *Fields) Given() (given []*Effect) {
	for _, e := range all {
		if e.Given != nil && e.Given(f) {
			given = append(given, e)
		}
	}
	return given
}

// Check reports mistakes in the fields. The step's calls are given by a method or a pattern of
// methods.
func (f *Fields) Check(call string, c Checker) {
	for _, e := range all {
		if e.Check != nil {
			e.Check(f, call, c)
		}
	}
}

// Read sets the effect of a fault.
func (f *Fields) Read(into *fault.Fault) {
	for _, e := range f.Given() {
		into.Effect = e.Name
		if e.Read != nil {
			e.Read(f, into)
		}
	}
}

// Checker reports mistakes in the fields of a step of a scenario.
type Checker interface {
	// Has reports whether the step has a field.
	Has(field string) bool
	// Report reports a mistake in a field: the found text and the correct one.
	Report(field, found, want string)
	// Known reports an unknown word in a field.
	Known(field, noun, word string, known []string)
	// Pattern reports a pattern of paths that is malformed.
	Pattern(field, pattern string)
	// Victim reports a name that is neither a known program nor a controller.
	Victim(field, name string, known []string)
	// Release reports a name that is not a release of the driver.
	Release(field, name string)
	// HasPrograms reports whether csisim starts a driver of the scenario as a program.
	HasPrograms() bool
	// HasServices reports whether a driver has a stand-in for an HTTP service.
	HasServices() bool
}
