package proxy

import (
	"bytes"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/csisim/csisim/drivers/fault"
)

// A proxy that has neither started the driver nor can observe its process returns an error that
// names the requirement.
func TestAProxyThatCannotEndTheDriverNamesTheRequirement(t *testing.T) {
	for path, f := range map[string]*fault.Fault{"/driver/kill": nil, "/driver/stop": nil, "/faults": {Effect: fault.Kill, Victim: fault.Driver}} {
		body, err := json.Marshal(f)
		require.NoError(t, err)
		answer := httptest.NewRecorder()
		(&Proxy{}).control().ServeHTTP(answer, httptest.NewRequest(http.MethodPost, path, bytes.NewReader(body)))
		assert.Equal(t, http.StatusConflict, answer.Code, path)
		assert.Equal(t, "the proxy can end the driver only if it has started it or has --listening\n", answer.Body.String(), path)
	}
}
