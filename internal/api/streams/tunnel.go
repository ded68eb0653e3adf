package streams

import (
	"bufio"
	"maps"
	"net"
	"net/http"
	"strings"

	"github.com/gorilla/websocket"
	protocol "k8s.io/apimachinery/pkg/util/portforward"
	"k8s.io/client-go/tools/portforward"
	"k8s.io/streaming/pkg/httpstream"
	"k8s.io/streaming/pkg/httpstream/spdy"
)

// tunnel converts a request for SPDY inside a WebSocket to one for SPDY, with that WebSocket as its
// connection.
func tunnel(w http.ResponseWriter, r *http.Request) (http.ResponseWriter, *http.Request) {
	inner := r.Clone(r.Context())
	inner.Header.Set(httpstream.HeaderUpgrade, spdy.HeaderSpdy31)
	for _, subprotocol := range websocket.Subprotocols(r) {
		if name, ok := strings.CutPrefix(subprotocol, protocol.WebsocketsSPDYTunnelingPrefix); ok {
			inner.Header.Add(httpstream.HeaderProtocolVersion, name)
		}
	}
	for _, name := range []string{"Sec-Websocket-Protocol", "Sec-Websocket-Key", "Sec-Websocket-Version"} {
		inner.Header.Del(name)
	}
	return &tunneled{ResponseWriter: w, request: r, header: http.Header{}}, inner
}

// tunneled becomes a WebSocket at Hijack. Any other answer goes to the client unchanged.
type tunneled struct {
	http.ResponseWriter
	request *http.Request
	header  http.Header // of the inner answer
}

func (t *tunneled) Header() http.Header { return t.header }

func (t *tunneled) WriteHeader(code int) {
	if code != http.StatusSwitchingProtocols {
		maps.Copy(t.ResponseWriter.Header(), t.header)
		t.ResponseWriter.WriteHeader(code)
	}
}

// Hijack opens the WebSocket.
func (t *tunneled) Hijack() (net.Conn, *bufio.ReadWriter, error) {
	upgrader := websocket.Upgrader{
		// Requests have a token that no web page has.
		CheckOrigin:  func(*http.Request) bool { return true },
		Subprotocols: []string{protocol.WebsocketsSPDYTunnelingPrefix + t.header.Get(httpstream.HeaderProtocolVersion)},
	}
	conn, err := upgrader.Upgrade(t.ResponseWriter, t.request, nil)
	if err != nil {
		return nil, nil, err
	}
	inside := portforward.NewTunnelingConnection("server", conn)
	return inside, bufio.NewReadWriter(bufio.NewReader(inside), bufio.NewWriter(inside)), nil
}
