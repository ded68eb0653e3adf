package main

import (
	"crypto/subtle"
	"encoding/json"
	"net/http"
	"strconv"

	_ "embed"
)

// pagePath is where the page of a live cluster is, beside its API.
const pagePath = "/csisim/"

//go:embed page.html
var pageText []byte

// pageCookie bears the token, for the page only.
const pageCookie = "csisim-token"

// page shows a live cluster in a browser. Who brings the token in the address gets
// it as a cookie; without it nothing is shown.
type page struct {
	token string
	look  *lookout
}

// withPage serves the page beside the API.
func withPage(api http.Handler, p *page) http.Handler {
	mux := http.NewServeMux()
	mux.Handle("/", api)
	mux.HandleFunc("GET "+pagePath+"{$}", p.show)
	mux.HandleFunc("GET "+pagePath+"state", p.state)
	return mux
}

func (p *page) show(w http.ResponseWriter, r *http.Request) {
	if token := r.URL.Query().Get("token"); token != "" && p.bears(token) {
		http.SetCookie(w, &http.Cookie{
			Name: pageCookie, Value: token, Path: pagePath, HttpOnly: true, Secure: true, SameSite: http.SameSiteStrictMode,
		})
		http.Redirect(w, r, pagePath, http.StatusSeeOther) // the token does not stay in the address
		return
	}
	if !p.admits(w, r) {
		return
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.Header().Set("Content-Security-Policy",
		"default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'")
	_, _ = w.Write(pageText) // a browser that is gone needs none
}

func (p *page) state(w http.ResponseWriter, r *http.Request) {
	if !p.admits(w, r) {
		return
	}
	query := r.URL.Query()
	since, err := strconv.ParseUint(query.Get("since"), 10, 64)
	if err != nil {
		http.Error(w, "since: the number of an event", http.StatusBadRequest)
		return
	}
	text, err := json.Marshal(p.look.state(since, query.Get("object")))
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	_, _ = w.Write(text)
}

// admits refuses who does not bear the token.
func (p *page) admits(w http.ResponseWriter, r *http.Request) bool {
	w.Header().Set("Cache-Control", "no-store")
	w.Header().Set("Referrer-Policy", "no-referrer")
	w.Header().Set("X-Content-Type-Options", "nosniff")
	cookie, err := r.Cookie(pageCookie)
	if err == nil && p.bears(cookie.Value) {
		return true
	}
	http.Error(w, "open the address that csisim up printed: it carries the token", http.StatusUnauthorized)
	return false
}

func (p *page) bears(token string) bool {
	return subtle.ConstantTimeCompare([]byte(token), []byte(p.token)) == 1
}
