package apiserver

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"

	"github.com/csisim/csisim/internal/world/store"
)

const (
	// longestWatch is the timeout of a watch for which the client names none.
	longestWatch = 30 * time.Minute
	// bookmarkEvery is the interval of bookmarks in a quiet watch.
	bookmarkEvery = time.Minute
)

// watcher is one stream of events.
type watcher struct {
	*request
	listOptions
	revision  uint64 // all events up to it were sent
	bookmarks bool
	columns   bool // a table's columns were sent
}

// watch streams the events after a version. Without a version, or with version 0, the stream begins
// with the current objects.
func (q *request) watch(o listOptions) error {
	if q.answer.media.info.MediaType == typeYAML {
		return notAcceptable("only the following media types are accepted: application/json;stream=watch, application/vnd.kubernetes.protobuf;stream=watch")
	}
	wanted, err := parseVersion(o.ResourceVersion)
	if err != nil {
		return err
	}
	w := &watcher{request: q, listOptions: o, revision: wanted, bookmarks: o.AllowWatchBookmarks}
	streamsInitial := o.SendInitialEvents != nil && *o.SendInitialEvents
	begins := wanted == 0 && o.SendInitialEvents == nil || streamsInitial
	if begins || streamsInitial {
		if err := q.awaitVersion(wanted); err != nil {
			return err
		}
	}
	var present []store.Object
	if begins || wanted == 0 {
		_ = q.exclusively(func() error {
			if begins {
				present = q.selected(o)
			}
			w.revision = q.server.store.Revision()
			return nil
		})
	}
	defer w.noDeadline()
	w.begin()
	if o.ResourceVersion == "" && w.duration() < 0 {
		return nil // its timeout has expired before the current state is known
	}
	for _, obj := range present {
		if err := w.send(watch.Added, obj); err != nil {
			return nil
		}
	}
	if streamsInitial && w.bookmarks {
		if err := w.bookmark(map[string]string{metav1.InitialEventsAnnotationKey: "true"}); err != nil {
			return nil
		}
	}
	w.flush()
	w.follow()
	return nil
}

// begin sends the header of the stream.
func (w *watcher) begin() {
	contentType := w.answer.media.info.MediaType
	if contentType == typeProtobuf {
		contentType += ";stream=watch"
	}
	header := w.answer.w.Header()
	header.Set("Content-Type", contentType)
	header.Set("Cache-Control", "no-cache, private")
	w.answer.w.WriteHeader(http.StatusOK)
	w.flush()
}

// flush sends buffered events. It fails if the client does not read them in time.
func (w *watcher) flush() {
	w.deadline()
	if f, ok := w.answer.w.(http.Flusher); ok {
		f.Flush()
	}
	w.noDeadline()
}

// follow sends events until the timeout, or until the client closes the connection.
func (w *watcher) follow() {
	end := time.NewTimer(w.duration())
	defer end.Stop()
	quiet := time.NewTicker(bookmarkEvery)
	defer quiet.Stop()
	for {
		commits, latest, more, err := w.server.history.since(w.revision)
		if err != nil {
			_ = w.sendStatus(err)
			return
		}
		for _, c := range commits {
			if err := w.sendChange(c); err != nil {
				return
			}
		}
		w.revision = max(w.revision, latest)
		if len(commits) > 0 {
			w.flush()
		}
		if !w.server.kinds().has(w.kind) {
			return // its definition was replaced or deleted
		}
		select {
		case <-more:
		case <-end.C:
			if w.bookmarks && w.answer.media.as == "" {
				_ = w.bookmark(nil)
				w.flush()
			}
			return
		case <-quiet.C:
			if w.bookmarks && w.bookmark(nil) != nil {
				return
			}
			w.flush()
		case <-w.Context().Done():
			return
		}
	}
}

// duration returns the timeout of the watch. A negative timeout ends the watch at once.
func (w *watcher) duration() time.Duration {
	if w.TimeoutSeconds != nil && *w.TimeoutSeconds != 0 {
		return time.Duration(*w.TimeoutSeconds) * time.Second
	}
	return longestWatch
}

// sendChange sends the event of a write if it concerns the watch: an object that enters the
// selection is added, and an object that leaves it is deleted.
func (w *watcher) sendChange(c store.Commit) error {
	if c.Resource != w.kind.res || c.Revision <= w.revision {
		return nil
	}
	was, is := w.selects(w.listOptions, c.Old), w.selects(w.listOptions, c.New)
	switch {
	case was && is:
		return w.send(watch.Modified, c.New)
	case is:
		return w.send(watch.Added, c.New)
	case was:
		return w.send(watch.Deleted, c.Last())
	}
	return nil
}

// bookmark reports that all events up to the version were sent.
func (w *watcher) bookmark(annotations map[string]string) error {
	obj := w.kind.newObject()
	obj.GetObjectKind().SetGroupVersionKind(w.kind.gvk)
	obj.SetResourceVersion(strconv.FormatUint(w.revision, 10))
	obj.SetAnnotations(annotations)
	if w.answer.media.as == "" {
		return w.sendEncoded(watch.Bookmark, obj)
	}
	return w.send(watch.Bookmark, obj)
}

// send sends an event with a stored object.
func (w *watcher) send(event watch.EventType, obj store.Object) error {
	if w.inTexts() {
		text, err := w.wholeText(obj)
		if err != nil {
			return w.sendStatus(err)
		}
		return w.frame(event, text)
	}
	view, err := w.view(obj)
	if err != nil {
		return w.sendStatus(err)
	}
	if table, ok := view.(*metav1.Table); ok {
		if w.columns {
			table.ColumnDefinitions = nil
		}
		w.columns = true
	}
	return w.sendEncoded(event, view)
}

func (w *watcher) sendStatus(err error) error {
	failed := w.sendEncoded(watch.Error, statusOf(err))
	w.flush()
	return failed
}

func (w *watcher) sendEncoded(event watch.EventType, obj runtime.Object) error {
	var text bytes.Buffer
	if err := w.answer.media.info.Serializer.Encode(obj, &text); err != nil {
		return fmt.Errorf("encoding a %T: %w", obj, err)
	}
	return w.frame(event, text.Bytes())
}

// frame writes one event: a line in JSON, or in protobuf a message after its length in four bytes.
func (w *watcher) frame(event watch.EventType, text []byte) (err error) {
	var frame []byte
	switch w.answer.media.info.MediaType {
	case typeJSON:
		frame = slices.Concat([]byte(`{"type":"`), []byte(event), []byte(`","object":`), bytes.TrimSuffix(text, endOfLine), []byte("}\n"))
	case typeProtobuf:
		message := metav1.WatchEvent{Type: string(event), Object: runtime.RawExtension{Raw: text}}
		frame = make([]byte, 4+message.Size())
		binary.BigEndian.PutUint32(frame, uint32(message.Size()))
		if _, err := message.MarshalToSizedBuffer(frame[4:]); err != nil {
			return fmt.Errorf("encoding an event: %w", err)
		}
	default:
		return fmt.Errorf("there are no events in %s", w.answer.media.info.MediaType)
	}
	w.deadline()
	_, err = w.answer.w.Write(frame)
	return err
}

// deadline sets the time by which the client must have read the next event. Clients in this process
// have none.
func (w *watcher) deadline() {
	_ = http.NewResponseController(w.answer.w).SetWriteDeadline(time.Now().Add(w.server.options.WatchPatience))
}

// noDeadline ends the deadline of events that were sent. In HTTP/2 it would reset the stream even
// of an idle watch, because the timer of net/http does not depend on a pending write.
func (w *watcher) noDeadline() {
	_ = http.NewResponseController(w.answer.w).SetWriteDeadline(time.Time{})
}
