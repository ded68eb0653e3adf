package apiserver

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/csisim/csisim/internal/world/machine"
)

// Log is what a container writes.
type Log struct {
	// File is the file of the host; empty of a container that never writes.
	File string
	// Open reports whether the container may still write.
	Open func() bool
}

// logPeriod is how often a log that is followed is looked at.
const logPeriod = 100 * time.Millisecond

// log answers what a container of a pod has written, and with follow what it goes on
// to write.
func (q *request) log() error {
	var log Log
	err := q.exclusively(func() error {
		pod, err := q.object()
		if err != nil {
			return err
		}
		name, err := logged(pod.(*corev1.Pod), q.query.Get("container"))
		if err != nil || q.server.options.Log == nil {
			return err
		}
		log, err = q.server.options.Log(pod.(*corev1.Pod), name, truth(q.query.Get("previous")))
		if err != nil {
			return badRequest("%v", err)
		}
		return nil
	})
	if err != nil {
		return err
	}
	q.answer.w.Header().Set("Content-Type", "text/plain")
	q.answer.w.WriteHeader(http.StatusOK)
	if log.File == "" {
		return nil
	}
	file, err := os.Open(log.File)
	if errors.Is(err, fs.ErrNotExist) {
		return nil // the run ends
	}
	if err != nil {
		return err
	}
	defer file.Close()
	start := q.logStart(file)
	if _, err := file.Seek(start, io.SeekStart); err != nil {
		return err
	}
	if !truth(q.query.Get("timestamps")) {
		return q.copyLog(file, log)
	}
	stamps, err := os.Open(machine.StampsOf(log.File))
	if err != nil {
		return err
	}
	defer stamps.Close()
	return q.copyLog(newStampedReader(file, start, stamps), log)
}

// logged is the container that is meant; it may be left out where there is only one.
func logged(pod *corev1.Pod, name string) (string, error) {
	var names []string
	for _, c := range slices.Concat(pod.Spec.Containers, pod.Spec.InitContainers) {
		names = append(names, c.Name)
	}
	switch {
	case name == "" && len(pod.Spec.Containers) == 1:
		return pod.Spec.Containers[0].Name, nil
	case name == "":
		return "", badRequest("a container name must be specified for pod %s, choose one of: [%s]", pod.Name, strings.Join(names, " "))
	case !slices.Contains(names, name):
		return "", badRequest("container %s is not valid for pod %s", name, pod.Name)
	}
	return name, nil
}

// logStart is where the last tailLines lines begin.
func (q *request) logStart(file *os.File) int64 {
	lines, err := strconv.Atoi(q.query.Get("tailLines"))
	if err != nil {
		return 0
	}
	text, err := io.ReadAll(file)
	if err != nil {
		return 0
	}
	at := len(text)
	if at > 0 && text[at-1] == '\n' {
		at-- // it ends the last line
	}
	for ; lines > 0 && at >= 0; lines-- {
		at = bytes.LastIndexByte(text[:at], '\n')
	}
	if q.query.Get("tailLines") == "0" {
		return int64(len(text))
	}
	return int64(at + 1)
}

// copyLog answers what is there and, with follow, what comes until the container ends.
func (q *request) copyLog(file io.Reader, log Log) error {
	var limited io.Reader = file
	if most, err := strconv.ParseInt(q.query.Get("limitBytes"), 10, 64); err == nil {
		limited = io.LimitReader(file, most)
	}
	for {
		open := false
		q.server.options.Exclusive(func() { open = log.Open() })
		if _, err := io.Copy(q.answer.w, limited); err != nil {
			return fmt.Errorf("copying the log: %w", err)
		}
		if !open || !truth(q.query.Get("follow")) {
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

func truth(text string) bool {
	switch strings.ToLower(text) {
	case "", "0", "false":
		return false
	}
	return true
}
