package openstack

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"time"
)

// route is one request of an API.
type route struct {
	operation string
	pattern   string
	open      bool // needs no token
	handle    func(*Cloud, *http.Request) (answer, error)
}

// answer is the answer to a request.
type answer struct {
	status int
	header map[string]string
	body   any
}

// fault is an error answer.
type fault struct {
	status  int
	message string
}

func (f *fault) Error() string { return f.message }

func refuse(status int, format string, args ...any) error {
	return &fault{status, fmt.Sprintf(format, args...)}
}

// kinds are the names that block storage and compute use for their errors.
var kinds = map[int]string{
	http.StatusBadRequest: "badRequest", http.StatusNotFound: "itemNotFound", http.StatusConflict: "conflictingRequest",
	http.StatusForbidden: "forbidden", http.StatusRequestEntityTooLarge: "overLimit", http.StatusServiceUnavailable: "serviceUnavailable",
}

var routes []route

func init() {
	routes = []route{
		{"authenticate", "POST /identity/v3/auth/tokens", true, (*Cloud).authenticate},
		{"create-volume", "POST /volume/v3/volumes", false, (*Cloud).createVolume},
		{"list-volumes", "GET /volume/v3/volumes/detail", false, (*Cloud).listVolumes},
		{"get-volume", "GET /volume/v3/volumes/{id}", false, (*Cloud).getVolume},
		{"delete-volume", "DELETE /volume/v3/volumes/{id}", false, (*Cloud).deleteVolume},
		{"extend-volume", "POST /volume/v3/volumes/{id}/action", false, (*Cloud).actOnVolume},
		{"create-snapshot", "POST /volume/v3/snapshots", false, (*Cloud).createSnapshot},
		{"list-snapshots", "GET /volume/v3/snapshots", false, (*Cloud).listSnapshots},
		{"list-snapshots", "GET /volume/v3/snapshots/detail", false, (*Cloud).listSnapshots},
		{"get-snapshot", "GET /volume/v3/snapshots/{id}", false, (*Cloud).getSnapshot},
		{"delete-snapshot", "DELETE /volume/v3/snapshots/{id}", false, (*Cloud).deleteSnapshot},
		{"list-types", "GET /volume/v3/types", false, (*Cloud).listTypes},
		{"get-backup", "GET /volume/v3/backups/{id}", false, (*Cloud).getBackup},
		{"create-backup", "POST /volume/v3/backups", false, (*Cloud).createBackup},
		{"list-backups", "GET /volume/v3/backups/detail", false, (*Cloud).listBackups},
		{"get-server", "GET /compute/v2.1/servers/{server}", false, (*Cloud).getServer},
		{"list-attachments", "GET /compute/v2.1/servers/{server}/os-volume_attachments", false, (*Cloud).listAttachments},
		{"attach", "POST /compute/v2.1/servers/{server}/os-volume_attachments", false, (*Cloud).attach},
		{"detach", "DELETE /compute/v2.1/servers/{server}/os-volume_attachments/{id}", false, (*Cloud).detach},
	}
}

func (c *Cloud) handler() http.Handler {
	mux := http.NewServeMux()
	for _, r := range routes {
		mux.HandleFunc(r.pattern, func(w http.ResponseWriter, request *http.Request) {
			a, err := c.serve(r, request)
			if err != nil {
				a = errorAnswer(r, err)
			}
			write(w, a)
		})
	}
	return mux
}

// serve answers one request. Requests are sequential.
func (c *Cloud) serve(r route, request *http.Request) (answer, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if f, failing := c.fails(r.operation); failing {
		status, message := f.Code, f.Message
		if status == 0 {
			status = http.StatusInternalServerError
		}
		if message == "" {
			message = "The server has either erred or is incapable of performing the requested operation."
		}
		return answer{}, &fault{status, message}
	}
	if !r.open && !c.tokens[request.Header.Get("X-Auth-Token")] {
		return answer{}, refuse(http.StatusUnauthorized, "The request you have made requires authentication.")
	}
	return r.handle(c, request)
}

func errorAnswer(r route, err error) answer {
	var f *fault
	if !errors.As(err, &f) {
		f = &fault{http.StatusInternalServerError, err.Error()}
	}
	if r.open || f.status == http.StatusUnauthorized {
		return answer{status: f.status, body: map[string]any{
			"error": map[string]any{"code": f.status, "title": http.StatusText(f.status), "message": f.message},
		}}
	}
	kind, ok := kinds[f.status]
	if !ok {
		kind = "computeFault"
	}
	return answer{status: f.status, body: map[string]any{kind: map[string]any{"code": f.status, "message": f.message}}}
}

func write(w http.ResponseWriter, a answer) {
	for name, value := range a.header {
		w.Header().Set(name, value)
	}
	if a.body != nil {
		w.Header().Set("Content-Type", "application/json")
	}
	w.WriteHeader(a.status)
	if a.body != nil {
		_ = json.NewEncoder(w).Encode(a.body) // the client may have disconnected
	}
}

// read decodes the body of a request.
func read[T any](request *http.Request) (body T, err error) {
	if err := json.NewDecoder(request.Body).Decode(&body); err != nil {
		return body, refuse(http.StatusBadRequest, "Malformed request body: %v", err)
	}
	return body, nil
}

// timestamp returns a time as OpenStack writes it.
func timestamp(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05.000000") }
