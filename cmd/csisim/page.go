package main

import (
	"crypto/subtle"
	"encoding/json"
	"net"
	"net/http"

	"github.com/csisim/csisim/internal/view"
)

// page shows a trace or a live cluster in a browser, the latter on the port of the API. Its token
// opens the page and nothing more. A request with ?token= receives the token as a cookie; requests
// without either are rejected.
type page struct {
	token, host, port string // host is the address and port of the page
	text              func() ([]byte, error)
	more              map[string]http.HandlerFunc // handlers of further requests of the page, by path
}

func newPage(host string) (*page, error) {
	token, err := newToken()
	if err != nil {
		return nil, err
	}
	_, port, err := net.SplitHostPort(host)
	return &page{token: token, host: host, port: port}, err
}

// address returns the URL to open in a browser.
func (p *page) address() string { return "http://" + p.host + "/?token=" + p.token }

// cookie returns the name of the cookie with the token. Browsers send cookies to all ports of an
// address, so each cluster has another name.
func (p *page) cookie() string { return "csisim-token-" + p.port }

// beside serves the page and leaves all other requests to the API. Requests in plain HTTP and
// requests for the page must have the page's address as their host. This blocks other names that
// resolve to loopback.
func (p *page) beside(api http.Handler) http.Handler {
	own := map[string]http.HandlerFunc{"/": p.show}
	for path, answer := range p.more {
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
		if (isOwn || r.TLS == nil) && r.Host != p.host && r.Host != "localhost:"+p.port {
			http.Error(w, "open the address that csisim printed", http.StatusMisdirectedRequest)
			return
		}
		answer(w, r)
	})
}

func (p *page) show(w http.ResponseWriter, r *http.Request) {
	keepPrivate(w)
	if token := r.URL.Query().Get("token"); token != "" && p.bears(token) {
		http.SetCookie(w, &http.Cookie{
			Name: p.cookie(), Value: token, Path: "/", HttpOnly: true, SameSite: http.SameSiteStrictMode,
		})
		http.Redirect(w, r, "/", http.StatusSeeOther) // the token does not stay in the address
		return
	}
	if !p.admits(w, r) {
		return
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.Header().Set("Content-Security-Policy", view.Policy())
	text, err := p.text()
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	_, _ = w.Write(text) // the browser may have disconnected
}

// writeJSON answers with a value, or with an error.
func writeJSON(w http.ResponseWriter, value any, err error) {
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
func (p *page) admits(w http.ResponseWriter, r *http.Request) bool {
	keepPrivate(w)
	cookie, err := r.Cookie(p.cookie())
	if err == nil && p.bears(cookie.Value) {
		return true
	}
	http.Error(w, "open the address that csisim printed: it carries the token", http.StatusUnauthorized)
	return false
}

// keepPrivate keeps browsers and proxies from storing an answer or passing on its address.
func keepPrivate(w http.ResponseWriter) {
	w.Header().Set("Cache-Control", "no-store")
	w.Header().Set("Referrer-Policy", "no-referrer")
	w.Header().Set("X-Content-Type-Options", "nosniff")
}

func (p *page) bears(token string) bool {
	return subtle.ConstantTimeCompare([]byte(token), []byte(p.token)) == 1
}
