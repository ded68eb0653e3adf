package apiserver

import (
	"errors"
	"io"
	"io/fs"
	"net/http"
	"os"
	"strconv"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/csisim/csisim/internal/world/machine"
)

// Log is the log of a container.
type Log struct {
	// File is the file on the host; empty if the container never writes.
	File string
	// Text is the whole log of a container without a file.
	Text string
	// Open reports whether the container may still write.
	Open func() bool
}

// logPeriod is the interval of reads of a followed log.
const logPeriod = 100 * time.Millisecond

// log answers with the output of a container of a pod and, with follow, its later output.
func (q *request) log() error {
	o, err := q.logOptions()
	if err != nil {
		return err
	}
	var log Log
	assigned := true
	err = q.exclusively(func() error {
		object, err := q.object()
		if err != nil {
			return err
		}
		pod := object.(*corev1.Pod)
		c, err := containerOf(pod, o.Container)
		if err != nil || q.server.options.Nodes == nil {
			return err
		}
		if assigned = pod.Spec.NodeName != ""; !assigned {
			return nil
		}
		if o.SinceSeconds != nil {
			o.SinceTime = &metav1.Time{Time: q.server.options.Now().Add(-time.Duration(*o.SinceSeconds) * time.Second)}
		}
		if log, err = q.server.options.Nodes.Log(pod, c.Name, o.Previous); err != nil {
			return badRequest("%v", err)
		}
		return nil
	})
	switch {
	case err != nil:
		return err
	case !assigned: // the pod has no node yet
		q.answer.w.WriteHeader(http.StatusNoContent)
		return nil
	}
	// The first text, or the end of the log, starts the answer with status 200. An earlier error
	// has its own status code.
	q.answer.w.Header().Set("Content-Type", "text/plain")
	if log.File == "" {
		_, err := io.WriteString(q.answer.w, log.Text)
		return err
	}
	return q.writeLog(log, o)
}

func (q *request) writeLog(log Log, o *corev1.PodLogOptions) error {
	file, err := os.Open(log.File)
	if err != nil {
		return unlessGone(err)
	}
	defer file.Close()
	stamps, err := os.Open(machine.StampsOf(log.File))
	if err != nil {
		return unlessGone(err)
	}
	defer stamps.Close()
	start, err := logStart(file, stamps, o)
	if err == nil {
		_, err = file.Seek(start, io.SeekStart)
	}
	if err == nil {
		_, err = stamps.Seek(0, io.SeekStart)
	}
	switch {
	case err != nil:
		return err
	case o.Timestamps:
		return q.copyLog(newStampedReader(file, start, stamps), log, o)
	}
	return q.copyLog(file, log, o)
}

// unlessGone ignores that a log was deleted: the run is ending.
func unlessGone(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// logOptions reads the options of a log.
func (q *request) logOptions() (*corev1.PodLogOptions, error) {
	o := &corev1.PodLogOptions{
		Container: q.query.Get("container"), Follow: q.isSet("follow"), Previous: q.isSet("previous"), Timestamps: q.isSet("timestamps"),
	}
	for _, number := range []struct {
		name string
		into **int64
	}{{"sinceSeconds", &o.SinceSeconds}, {"tailLines", &o.TailLines}, {"limitBytes", &o.LimitBytes}} {
		text := q.query.Get(number.name)
		if text == "" {
			continue
		}
		n, err := strconv.ParseInt(text, 10, 64)
		if err != nil {
			return nil, badRequest("%v", err)
		}
		*number.into = &n
	}
	if text := q.query.Get("sinceTime"); text != "" {
		at, err := time.Parse(time.RFC3339, text)
		if err != nil {
			return nil, badRequest("%v", err)
		}
		o.SinceTime = &metav1.Time{Time: at}
	}
	if errs := checkLogOptions(o, q.query.Has("stream")); len(errs) > 0 {
		return nil, apierrors.NewInvalid(schema.GroupKind{Kind: "PodLogOptions"}, q.info.name, errs)
	}
	return o, nil
}

func checkLogOptions(o *corev1.PodLogOptions, hasStream bool) (errs field.ErrorList) {
	if o.TailLines != nil && *o.TailLines < 0 {
		errs = append(errs, field.Invalid(field.NewPath("tailLines"), *o.TailLines, "must be greater than or equal to 0"))
	}
	if o.LimitBytes != nil && *o.LimitBytes < 1 {
		errs = append(errs, field.Invalid(field.NewPath("limitBytes"), *o.LimitBytes, "must be greater than 0"))
	}
	switch {
	case o.SinceSeconds != nil && o.SinceTime != nil:
		errs = append(errs, field.Forbidden(field.NewPath(""), "at most one of `sinceTime` or `sinceSeconds` may be specified"))
	case o.SinceSeconds != nil && *o.SinceSeconds < 1:
		errs = append(errs, field.Invalid(field.NewPath("sinceSeconds"), *o.SinceSeconds, "must be greater than 0"))
	}
	if hasStream {
		errs = append(errs, field.Forbidden(field.NewPath("stream"), "may not be specified"))
	}
	return errs
}

// copyLog writes the current log and, with follow, the later output until the container ends.
func (q *request) copyLog(file io.Reader, log Log, o *corev1.PodLogOptions) error {
	left := io.LimitedReader{R: file, N: 1 << 62}
	if o.LimitBytes != nil {
		left.N = *o.LimitBytes
	}
	for {
		open := false
		q.server.options.Exclusive(func() { open = log.Open() })
		if _, err := io.Copy(q.answer.w, &left); err != nil {
			return nil // the client has closed the connection
		}
		if !open || !o.Follow || left.N == 0 {
			return nil
		}
		if flusher, ok := q.answer.w.(http.Flusher); ok {
			flusher.Flush()
		}
		select {
		case <-time.After(logPeriod):
		case <-q.Context().Done():
			return nil
		}
	}
}
