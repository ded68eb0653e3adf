package web

import (
	"encoding/json"
	"net"
	"net/http"
)

// answer is the answer to a request.
type answer struct {
	status  int
	headers map[string]string
	body    []byte
	refused string // the reason of a refusal, without a body
}

func jsonAnswer(status int, content any) answer {
	body, err := json.Marshal(content)
	if err != nil {
		return failure(err)
	}
	return answer{status: status, body: append(body, '\n')}
}

func refusal(status int, text string) answer { return answer{status: status, refused: text} }

// failure refuses a request for which the declaration has no correct answer.
func failure(err error) answer { return refusal(http.StatusInternalServerError, err.Error()) }

// explain gives a refusal its body.
func (s *Service) explain(a answer) answer {
	if a.refused == "" {
		return a
	}
	var body any = map[string]string{"error": a.refused}
	if s.errors != nil {
		declared, err := s.errors.value(names{status: a.status, text: a.refused})
		if err == nil {
			body = declared
		}
	}
	return jsonAnswer(a.status, body)
}

func (a answer) write(w http.ResponseWriter) {
	w.Header().Set("Content-Type", "application/json")
	for name, value := range a.headers {
		w.Header().Set(name, value)
	}
	if a.status == http.StatusTooManyRequests || a.status == http.StatusServiceUnavailable {
		w.Header().Set("Retry-After", "1")
	}
	w.WriteHeader(a.status)
	_, _ = w.Write(a.body) // the client may be gone
}

// reset ends the connection of a request without an answer.
func reset(w http.ResponseWriter) {
	connection, _, err := http.NewResponseController(w).Hijack()
	if err != nil {
		return
	}
	if tcp, is := connection.(*net.TCPConn); is {
		_ = tcp.SetLinger(0) // an RST, not a FIN
	}
	_ = connection.Close()
}
