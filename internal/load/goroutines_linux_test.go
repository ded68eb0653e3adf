package load

import (
	"net/http"
	"net/http/httptest"
	"net/http/pprof"
	"os"
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestTheGoroutinesOfAProgramWithPprofAreCounted(t *testing.T) {
	other := httptest.NewServer(http.NotFoundHandler())
	defer other.Close()
	assert.Zero(t, Goroutines(os.Getpid()), "it serves no profiles")
	profiles := http.NewServeMux()
	profiles.HandleFunc("/debug/pprof/", pprof.Index)
	server := httptest.NewServer(profiles)
	defer server.Close()
	assert.Positive(t, Goroutines(os.Getpid()))
	assert.Zero(t, Goroutines(1<<30), "there is no such process")
}
