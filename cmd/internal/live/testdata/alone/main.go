// Command alone is a static program, the only file of its image. "alone serve PORT NAME" answers
// requests with its name and the client's address, "alone ask URL..." requests URLs with the
// service account of its pod and prints the answers.
package main

import (
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"time"
)

func main() {
	switch {
	case len(os.Args) < 3:
		fmt.Println("alone")
	case os.Args[1] == "serve":
		fmt.Println(serve(os.Args[2], os.Args[3]))
		os.Exit(1)
	default:
		for _, url := range os.Args[2:] {
			fmt.Println(ask(url))
		}
	}
}

func serve(port, name string) error {
	return http.ListenAndServe(":"+port, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		client, _, _ := net.SplitHostPort(r.RemoteAddr)
		fmt.Fprintf(w, "%s to %s", name, client)
	}))
}

const account = "/var/run/secrets/kubernetes.io/serviceaccount/"

func ask(url string) string {
	authority, _ := os.ReadFile(account + "ca.crt")
	token, _ := os.ReadFile(account + "token")
	trusted := x509.NewCertPool()
	trusted.AppendCertsFromPEM(authority)
	client := http.Client{Timeout: 10 * time.Second, Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: trusted}}}
	request, err := http.NewRequest(http.MethodGet, url, nil)
	if err != nil {
		return err.Error()
	}
	request.Header.Set("Authorization", "Bearer "+string(token))
	answer, err := client.Do(request)
	if err != nil {
		return err.Error()
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err != nil {
		return err.Error()
	}
	return string(text)
}
