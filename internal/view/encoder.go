package view

import (
	"bytes"
	"encoding/json"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/csisim/csisim/internal/world/trace"
)

// perChunk is the number of events in a chunk.
const perChunk = 2048

// Encoder makes chunks of the lines of a trace, which are added in their order.
type Encoder struct {
	narrator *trace.Narrator
	strings  *places[string]
	lanes    *places[string]
	paths    *places[string]
	objects  *places[key]
	volumes  *volumes
	state    *objects
	series   map[attempt]tried
	story    *story
	between  between
	rules    *rules

	rows    []row
	details bytes.Buffer
	events  int
	most    int          // of a trace that is read
	unknown []trace.Kind // that this version does not know
	chunks  []Chunk
}

// attempt is what is the same of a call and of those that try it again.
type attempt struct{ caller, method, volume, node, path string }

// tried is the first of a series of attempts.
type tried struct {
	first  int // its number in the trace
	failed bool
}

// NewEncoder returns an encoder that has seen nothing yet.
func NewEncoder() *Encoder {
	return &Encoder{
		narrator: trace.NewNarrator(), strings: newPlaces[string](), lanes: newPlaces[string](), paths: newPlaces[string](),
		objects: newPlaces[key](), volumes: newVolumes(), state: newObjects(), series: map[attempt]tried{}, most: mostEvents, story: newStory(), rules: newRules(),
	}
}

// Sink adds the events of a run.
func (e *Encoder) Sink(event *trace.Event) {
	line, err := event.Line()
	if err == nil {
		err = e.AddLine(line)
	}
	if err != nil {
		line = trace.Line{T: event.At.Milliseconds(), K: event.Kind, Seq: event.Seq, Msg: err.Error()}
		_ = e.AddLine(line) // of text alone, which can be rendered
	}
}

// AddLine adds a line of a trace.
func (e *Encoder) AddLine(l trace.Line) error {
	raw, err := json.Marshal(l)
	if err != nil {
		return fmt.Errorf("render event %d: %w", l.Seq, err)
	}
	return e.add(l, raw)
}

// Add adds a line of a trace as it stands there.
func (e *Encoder) Add(raw []byte) error {
	var l trace.Line
	if err := json.Unmarshal(raw, &l); err != nil {
		return err
	}
	return e.add(l, raw)
}

// add uses up the line.
func (e *Encoder) add(l trace.Line, raw []byte) error {
	if l.K.IsState() {
		return e.between.add(raw, len(e.rows))
	}
	e.events++
	if !kinds[l.K] && !slices.Contains(e.unknown, l.K) && len(e.unknown) < mentioned {
		e.unknown = append(e.unknown, l.K)
	}
	if l.Seq == 0 { // recordings of real clusters have no numbers
		l.Seq = uint64(e.events)
	}
	r := row{at: uint64(max(l.T, 0)), seq: l.Seq, cause: l.Cause, kind: e.strings.at(string(l.K)), code: atText(e.strings, l.Code), took: l.Ms}
	var before, after, full map[string]any
	kept := 0
	if l.K == trace.API {
		before, after = e.change(&r, l, &full)
	}
	where := pathOf(l)
	volume := e.volumes.of(l, firstOf(after, before))
	r.method, r.path, r.volume, r.node = atText(e.strings, methodOf(l)), atText(e.paths, where), volume, atText(e.strings, e.volumes.node(l))
	if l.K == trace.Call {
		if pod := e.volumes.pod(where); pod != "" {
			r.object = e.objects.at(key{"pods", within(l, pod)})
		}
		r.first = e.attempts(l, where)
		kept = e.rules.of(l)
	}
	if l.K == trace.KubeEvent {
		about := subject(l.Name)
		about.name = within(l, about.name)
		r.object = e.objects.at(about)
	}
	e.story.add(l, where, volume)
	words := e.narrator.DescribeLine(l, before)
	if r.flags = flagsOf(l, words); tone(r.flags&tones) >= waiting {
		words.Text = shortPaths(words.Text)
	}
	r.lane = e.lanes.at(words.Lane)
	e.rows = append(e.rows, r)
	return e.detail(raw, words, full, kept)
}

// change notes what became of an object.
func (e *Encoder) change(r *row, l trace.Line, full *map[string]any) (before, after map[string]any) {
	before, after, inFull := e.state.change(l)
	if inFull {
		*full = after
	}
	r.object = e.objects.at(keyOf(l))
	if after != nil {
		e.volumes.learn(l.R, l.Name, after)
		s := stateOf(l.R, after)
		r.state, r.info, r.stateTone = atText(e.strings, s.word), atText(e.strings, s.info), int(s.tone)
	}
	return before, after
}

// attempts is how many events ago a call was tried first, 0 if this is the first time.
func (e *Encoder) attempts(l trace.Line, where string) int {
	id := textAt(l.Req, "volume_id")
	if id == "" {
		id = textAt(l.Req, "name")
	}
	at := attempt{l.From, l.M, id, within(l, l.Node) + textAt(l.Req, "node_id"), where}
	before, again := e.series[at]
	if id == "" || !again || !before.failed {
		e.series[at] = tried{e.events, l.Code != ""}
		return 0
	}
	e.series[at] = tried{before.first, l.Code != ""}
	return e.events - before.first
}

// detail keeps a line and its words.
func (e *Encoder) detail(raw []byte, words trace.Words, full map[string]any, kept int) error {
	shown := []any{words.Text, words.Outcome}
	switch {
	case full != nil:
		shown = append(shown, full)
	case kept > 0:
		shown = append(shown, nil, kept)
	}
	text, err := json.Marshal(shown)
	if err != nil {
		return fmt.Errorf("words of an event: %w", err)
	}
	e.details.Write(raw)
	e.details.WriteByte('\n')
	e.details.Write(text)
	e.details.WriteByte('\n')
	if len(e.rows) >= perChunk {
		return e.cut()
	}
	return nil
}

// cut ends a chunk.
func (e *Encoder) cut() error {
	between, waits := e.between.take()
	names := added{Events: len(e.rows), Waits: waits, Strings: e.strings.take(), Lanes: e.lanes.take(), Paths: e.paths.take(), Volumes: e.volumes.take(), Rules: e.rules.sets.take()}
	for _, k := range e.objects.take() {
		names.Objects = append(names.Objects, [2]string{k.resource, k.name})
	}
	chunk, err := packed(names, e.rows, e.details.Bytes())
	if err != nil {
		return err
	}
	chunk.Between = between
	e.chunks = append(e.chunks, chunk)
	e.rows = e.rows[:0]
	e.details.Reset()
	return nil
}

// Chunks are those since the last time, with all events so far.
func (e *Encoder) Chunks() ([]Chunk, error) {
	if len(e.rows) > 0 || e.between.lines.Len() > 0 {
		if err := e.cut(); err != nil {
			return nil, err
		}
	}
	chunks := e.chunks
	e.chunks = nil
	return chunks, nil
}

// methodOf is what was called, changed or emitted.
func methodOf(l trace.Line) string {
	if l.K == trace.API {
		return l.Ev
	}
	return l.M
}

// pathOf is the path that an event is about, on its node; of a step what it does, which lanes show.
func pathOf(l trace.Line) string {
	if l.K == trace.Step {
		return l.Msg
	}
	if l.K == trace.FileChange || l.K == trace.SystemCall || l.K == trace.Unmounted {
		return l.Name
	}
	if path.Base(l.M) == "NodeStageVolume" || path.Base(l.M) == "NodeUnstageVolume" {
		return textAt(l.Req, "staging_target_path")
	}
	if target := textAt(l.Req, "target_path"); target != "" {
		return target
	}
	return textAt(l.Req, "volume_path")
}

// flagsOf is a row's tone and what else is to be seen of it at a glance.
func flagsOf(l trace.Line, words trace.Words) int {
	flags := int(map[string]tone{"quiet": quiet, "strong": strong, "warning": waiting, "failure": bad}[words.Tone])
	if words.Quiet || l.K == trace.API && routine[l.R] || l.K == trace.Call && l.Code == "" && l.Inj == "" && isAsking(path.Base(l.M)) {
		flags |= flagQuiet
	}
	if l.Inj != "" {
		flags |= flagInjected
	}
	if l.K == trace.Call && l.Resp == nil && l.Code == "" {
		flags |= flagOpen
	}
	return flags
}

// routine are the resources that keep a cluster going, whatever happens to volumes.
var routine = map[string]bool{
	"customresourcedefinitions": true, "serviceaccounts": true, "configmaps": true, "endpoints": true, "endpointslices": true, "controllerrevisions": true,
}

// isAsking reports whether a call only asks: such calls come again and again and say the same.
func isAsking(method string) bool {
	return strings.HasSuffix(method, "Capabilities") || strings.HasPrefix(method, "List") || strings.HasPrefix(method, "Get") ||
		method == "Probe" || method == "NodeGetVolumeStats" || method == "ControllerGetVolume"
}

func firstOf(objects ...map[string]any) map[string]any {
	for _, o := range objects {
		if o != nil {
			return o
		}
	}
	return nil
}
