package main

import (
	"crypto/subtle"
	"encoding/json"
	"errors"
	"net"
	"net/http"
	"strconv"

	"github.com/csisim/csisim/internal/view"
)

// page shows a trace or a live cluster in a browser, the latter on the port of the API. Its
// token opens the page and nothing else. Who brings it in the address gets it as a cookie;
// without it nothing is shown.
type page struct {
	token, host, port string // host is the address and port at which it is
	text              func() ([]byte, error)
	look              *lookout // nil if nothing changes
}

func newPage(host string) (*page, error) {
	token, err := newToken()
	if err != nil {
		return nil, err
	}
	_, port, err := net.SplitHostPort(host)
	return &page{token: token, host: host, port: port}, err
}

// address is what a browser is to open.
func (p *page) address() string { return "http://" + p.host + "/?token=" + p.token }

// cookie bears the token. Browsers give cookies to all ports of an address: other
// clusters have others.
func (p *page) cookie() string { return "csisim-token-" + p.port }

// beside answers requests for the page and leaves all others to the API. What comes in
// plain HTTP, and what asks for the page, has to name its address: a name that somebody
// else lets lead to loopback is refused.
func (p *page) beside(api http.Handler) http.Handler {
	own := map[string]http.HandlerFunc{"/": p.show, "/news": p.news}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		answer, isOwn := own[r.URL.Path]
		if !isOwn || r.Method != http.MethodGet {
			answer = api.ServeHTTP
		}
		if (isOwn || r.TLS == nil) && r.Host != p.host && r.Host != "localhost:"+p.port {
			http.Error(w, "open the address that csisim up printed", http.StatusMisdirectedRequest)
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
	_, _ = w.Write(text) // a browser that is gone needs none
}

// news answers with what the page does not have yet.
func (p *page) news(w http.ResponseWriter, r *http.Request) {
	if !p.admits(w, r) {
		return
	}
	epoch, chunks, err := p.asked(r)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	found, err := p.look.since(epoch, chunks)
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	text, err := json.Marshal(found)
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	_, _ = w.Write(text)
}

// asked is what a page has: how many chunks of which epoch.
func (p *page) asked(r *http.Request) (epoch, chunks int, err error) {
	if p.look == nil {
		return 0, 0, errors.New("nothing changes here")
	}
	query := r.URL.Query()
	epoch, err = strconv.Atoi(query.Get("epoch"))
	if err == nil {
		chunks, err = strconv.Atoi(query.Get("chunks"))
	}
	if err != nil || chunks < 0 {
		return 0, 0, errors.New("epoch and chunks: want the two numbers of the page")
	}
	return epoch, chunks, nil
}

// admits rejects requests without the token.
func (p *page) admits(w http.ResponseWriter, r *http.Request) bool {
	keepPrivate(w)
	cookie, err := r.Cookie(p.cookie())
	if err == nil && p.bears(cookie.Value) {
		return true
	}
	http.Error(w, "open the address that csisim up printed: it carries the token", http.StatusUnauthorized)
	return false
}

// keepPrivate keeps an answer, and the address that it was asked at, from being stored or
// passed on.
func keepPrivate(w http.ResponseWriter) {
	w.Header().Set("Cache-Control", "no-store")
	w.Header().Set("Referrer-Policy", "no-referrer")
	w.Header().Set("X-Content-Type-Options", "nosniff")
}

func (p *page) bears(token string) bool {
	return subtle.ConstantTimeCompare([]byte(token), []byte(p.token)) == 1
}
