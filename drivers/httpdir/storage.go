//go:build linux

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"sync"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// volume is a volume of the storage system.
type volume struct {
	ID   string `json:"id,omitempty"`
	Name string `json:"name,omitempty"`
	// Label is the driver's name for a volume if the storage system chooses the Name.
	Label string `json:"label,omitempty"`
	Size  int64  `json:"size"`
}

// storage is the client of the storage system.
type storage struct {
	url    string
	client *http.Client
	broken defects

	lock    sync.Mutex
	limited map[string]bool // paths that were answered with 429
}

func newStorage(url string, broken defects) *storage {
	// The transport itself retries requests if a reused connection turns out to be closed.
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	return &storage{url: url, client: client, broken: broken, limited: map[string]bool{}}
}

// answerError is an HTTP answer without success.
type answerError struct {
	request string
	status  int
}

func (e *answerError) Error() string {
	return fmt.Sprintf("%s: %d %s", e.request, e.status, http.StatusText(e.status))
}

// isStatus reports whether an error is an answer with the status.
func isStatus(err error, code int) bool {
	var answer *answerError
	return errors.As(err, &answer) && answer.status == code
}

// do makes a request, and decodes the answer into the given value; nil for none.
func (s *storage) do(ctx context.Context, method, path string, send, into any) error {
	if s.isLimited(path) {
		return status.Errorf(codes.ResourceExhausted, "%s %s: too many requests", method, path)
	}
	body, err := json.Marshal(send)
	if err != nil {
		return err
	}
	request, err := http.NewRequestWithContext(ctx, method, s.url+path, bytes.NewReader(body))
	if err != nil {
		return err
	}
	answer, err := s.client.Do(request)
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	switch {
	case answer.StatusCode == http.StatusInternalServerError && s.broken[errorsAreSuccess]:
		return nil
	case answer.StatusCode == http.StatusTooManyRequests && s.broken[limitIsFinal]:
		s.limit(path)
	}
	if answer.StatusCode >= 300 {
		return &answerError{method + " " + path, answer.StatusCode}
	}
	if into == nil {
		return nil
	}
	return json.NewDecoder(answer.Body).Decode(into)
}

func (s *storage) isLimited(path string) bool {
	s.lock.Lock()
	defer s.lock.Unlock()
	return s.limited[path]
}

func (s *storage) limit(path string) {
	s.lock.Lock()
	defer s.lock.Unlock()
	s.limited[path] = true
}

// create creates the volume with a name, or finds it.
func (s *storage) create(ctx context.Context, name string, size int64) (volume, error) {
	if s.broken[resetMakesAgain] {
		return s.createLabelled(ctx, name, size)
	}
	made := volume{Name: name, Size: size}
	err := s.do(ctx, http.MethodPost, "/volumes", made, &made)
	if !isStatus(err, http.StatusConflict) || s.broken[conflictIsFinal] {
		return made, err
	}
	found, err := s.list(ctx, url.Values{"name": {name}})
	if err != nil {
		return volume{}, err
	}
	if len(found) == 0 {
		return volume{}, fmt.Errorf("volume %s exists and is not listed yet", name)
	}
	return found[0], nil
}

// createLabelled creates a volume without a unique name, unless a list already contains it.
func (s *storage) createLabelled(ctx context.Context, name string, size int64) (volume, error) {
	found, err := s.list(ctx, url.Values{"label": {name}})
	if err != nil || len(found) > 0 {
		return append(found, volume{})[0], err
	}
	made := volume{Label: name, Size: size}
	err = s.do(ctx, http.MethodPost, "/volumes", made, &made)
	var lost *url.Error
	if errors.As(err, &lost) && ctx.Err() == nil {
		err = s.do(ctx, http.MethodPost, "/volumes", made, &made)
	}
	return made, err
}

func (s *storage) list(ctx context.Context, query url.Values) (found []volume, err error) {
	path := "/volumes"
	if len(query) > 0 {
		path += "?" + query.Encode()
	}
	err = s.do(ctx, http.MethodGet, path, nil, &found)
	return found, err
}

func (s *storage) get(ctx context.Context, id string) (v volume, err error) {
	err = s.do(ctx, http.MethodGet, "/volumes/"+id, nil, &v)
	return v, err
}

// remove deletes a volume, which may already be deleted.
func (s *storage) remove(ctx context.Context, id string) error {
	if s.broken[listsAreTrusted] {
		all, err := s.list(ctx, nil)
		if err != nil || !slices.ContainsFunc(all, func(v volume) bool { return v.ID == id }) {
			return err
		}
	}
	err := s.do(ctx, http.MethodDelete, "/volumes/"+id, nil, nil)
	if isStatus(err, http.StatusNotFound) && !s.broken[deleteNeedsVolume] || isStatus(err, http.StatusConflict) && s.broken[conflictIsDeleted] {
		return nil
	}
	return err
}

// attachment describes the use of a volume.
type attachment struct {
	Volume string `json:"volume"`
	Node   string `json:"node"`
}

func (s *storage) attachedTo(ctx context.Context, id string) (nodes []string, err error) {
	var found []attachment
	err = s.do(ctx, http.MethodGet, "/attachments?"+url.Values{"volume": {id}}.Encode(), nil, &found)
	for _, a := range found {
		nodes = append(nodes, a.Node)
	}
	return nodes, err
}

func (s *storage) attach(ctx context.Context, id, node string) error {
	return s.do(ctx, http.MethodPut, "/attachments/"+id+"@"+node, attachment{id, node}, nil)
}

func (s *storage) detach(ctx context.Context, id, node string) error {
	err := s.do(ctx, http.MethodDelete, "/attachments/"+id+"@"+node, nil, nil)
	if isStatus(err, http.StatusNotFound) {
		return nil
	}
	return err
}

// asStatus converts an error of the storage system to an error of a call.
func asStatus(err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, context.DeadlineExceeded):
		return status.Error(codes.DeadlineExceeded, err.Error())
	case isStatus(err, http.StatusConflict):
		return status.Error(codes.Aborted, err.Error())
	case isStatus(err, http.StatusNotFound):
		return status.Error(codes.NotFound, err.Error())
	}
	if _, is := status.FromError(err); is {
		return err
	}
	return status.Error(codes.Unavailable, err.Error())
}
