// Package page serves a page of the viewer on loopback to the browser that has its token. The page
// has its own port, or shares that of a live cluster's API.
package page

import (
	"crypto/rand"
	"crypto/subtle"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"time"

	"github.com/csisim/csisim/internal/view"
)

// Page shows a trace or a live cluster in a browser. A live cluster is shown on the port of its
// API. The page's token opens only the page. A request with ?token= receives the token as a cookie.
// Requests without the token are rejected.
type Page struct {
	Host        string // address and port
	token, port string
	// Text returns the page.
	Text func() ([]byte, error)
	// More has the handlers of further requests to the page, by path.
	More map[string]http.HandlerFunc
}

// New returns the page at an address and port, with a new token.
func New(host string) (*Page, error) {
	token, err := NewToken()
	if err != nil {
		return nil, err
	}
	_, port, err := net.SplitHostPort(host)
	return &Page{token: token, Host: host, port: port}, err
}

// NewToken returns a secret of 32 hexadecimal digits.
func NewToken() (string, error) {
	secret := make([]byte, 16)
	if _, err := rand.Read(secret); err != nil {
		return "", fmt.Errorf("making a token: %w", err)
	}
	return hex.EncodeToString(secret), nil
}

// Address returns the URL to open in a browser.
func (p *Page) Address() string { return "http://" + p.Host + "/?token=" + p.token }

// cookie returns the name of the cookie with the token. Browsers send cookies to all ports of an
// address, so each cluster uses another cookie name.
func (p *Page) cookie() string { return "csisim-token-" + p.port }

// Beside serves the page and leaves all other requests to the API. Requests in plain HTTP and
// requests for the page must have the page's address as their host. This blocks other names that
// resolve to loopback.
func (p *Page) Beside(api http.Handler) http.Handler {
	own := map[string]http.HandlerFunc{"/": p.show}
	for path, answer := range p.More {
		own[path] = func(w http.ResponseWriter, r *http.Request) {
			if p.admits(w, r) {
				answer(w, r)
			}
		}
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		answer, isOwn := own[r.URL.Path]
		if !isOwn || r.Method != http.MethodGet {
			answer = api.ServeHTTP
		}
		if (isOwn || r.TLS == nil) && r.Host != p.Host && r.Host != "localhost:"+p.port {
			http.Error(w, "open the address that csisim printed", http.StatusMisdirectedRequest)
			return
		}
		answer(w, r)
	})
}

func (p *Page) show(w http.ResponseWriter, r *http.Request) {
	keepPrivate(w)
	if token := r.URL.Query().Get("token"); token != "" && p.bears(token) {
		http.SetCookie(w, &http.Cookie{
			Name: p.cookie(), Value: token, Path: "/", HttpOnly: true, SameSite: http.SameSiteStrictMode,
		})
		http.Redirect(w, r, "/", http.StatusSeeOther) // removes the token from the address
		return
	}
	if !p.admits(w, r) {
		return
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.Header().Set("Content-Security-Policy", view.Policy())
	text, err := p.Text()
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	_, _ = w.Write(text) // the browser may have disconnected
}

// WriteJSON answers with a value, or with an error.
func WriteJSON(w http.ResponseWriter, value any, err error) {
	var text []byte
	if err == nil {
		text, err = json.Marshal(value)
	}
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	_, _ = w.Write(text) // the browser may have disconnected
}

// admits rejects requests without the token.
func (p *Page) admits(w http.ResponseWriter, r *http.Request) bool {
	keepPrivate(w)
	cookie, err := r.Cookie(p.cookie())
	if err == nil && p.bears(cookie.Value) {
		return true
	}
	http.Error(w, "open the address that csisim printed: it carries the token", http.StatusUnauthorized)
	return false
}

// keepPrivate stops browsers and proxies from storing an answer or passing on its address.
func keepPrivate(w http.ResponseWriter) {
	w.Header().Set("Cache-Control", "no-store")
	w.Header().Set("Referrer-Policy", "no-referrer")
	w.Header().Set("X-Content-Type-Options", "nosniff")
}

func (p *Page) bears(token string) bool {
	return subtle.ConstantTimeCompare([]byte(token), []byte(p.token)) == 1
}

// Serve answers clients until stop is called, which closes all connections.
func Serve(listener net.Listener, handler http.Handler) (stop func() error) {
	server := &http.Server{Handler: handler, ReadHeaderTimeout: time.Minute}
	served := make(chan error, 1)
	go func() { served <- server.Serve(listener) }()
	return func() error {
		_ = server.Close()
		if err := <-served; !errors.Is(err, http.ErrServerClosed) {
			return err
		}
		return nil
	}
}
