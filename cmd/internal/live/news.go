package live

import (
	"errors"
	"net/http"
	"net/url"
	"strconv"

	"github.com/csisim/csisim/cmd/internal/page"
)

// answer sends the events that the page of a live cluster lacks.
func (l *lookout) answer(w http.ResponseWriter, r *http.Request) {
	epoch, chunks, err := held(r.URL.Query())
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	found, err := l.since(epoch, chunks)
	page.WriteJSON(w, found, err)
}

// held parses the epoch and the number of chunks that a page has.
func held(query url.Values) (epoch, chunks int, err error) {
	epoch, err = strconv.Atoi(query.Get("epoch"))
	if err == nil {
		chunks, err = strconv.Atoi(query.Get("chunks"))
	}
	if err != nil || chunks < 0 {
		return 0, 0, errors.New("epoch and chunks: want the two numbers of the page")
	}
	return epoch, chunks, nil
}
