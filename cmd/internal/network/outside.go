package network

import (
	"bufio"
	"context"
	"errors"
	"net"
	"os"
	"strings"
	"time"

	"golang.org/x/net/dns/dnsmessage"
)

// codeOf converts an error of the machine's own resolver to a DNS code.
func codeOf(err error) dnsmessage.RCode {
	var failed *net.DNSError
	if errors.As(err, &failed) && failed.IsNotFound {
		return dnsmessage.RCodeNameError
	}
	return dnsmessage.RCodeServerFailure
}

// askOutside queries the name servers of csisim's machine, one after the other.
func askOutside(ctx context.Context, protocol string, message []byte) (answer []byte, err error) {
	servers, err := nameservers("/etc/resolv.conf")
	if err != nil {
		return nil, err
	}
	err = errors.New("the machine has no name server")
	for _, server := range servers {
		if answer, err = ask(ctx, protocol, server, message); err == nil {
			return answer, nil
		}
	}
	return nil, err
}

// nameservers reads a resolv.conf, which may change when the machine changes networks.
func nameservers(file string) (servers []string, err error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	lines := bufio.NewScanner(strings.NewReader(string(text)))
	for lines.Scan() {
		if words := strings.Fields(lines.Text()); len(words) > 1 && words[0] == "nameserver" {
			servers = append(servers, net.JoinHostPort(words[1], "53"))
		}
	}
	return servers, nil
}

// ask queries one name server.
func ask(ctx context.Context, protocol, server string, message []byte) ([]byte, error) {
	var d net.Dialer
	conn, err := d.DialContext(ctx, protocol, server)
	if err != nil {
		return nil, err
	}
	defer conn.Close()
	if err := conn.SetDeadline(time.Now().Add(answerPatience / 2)); err != nil {
		return nil, err
	}
	if protocol == "tcp" {
		return askStream(conn, message)
	}
	if _, err := conn.Write(message); err != nil {
		return nil, err
	}
	answer := make([]byte, mtu)
	size, err := conn.Read(answer)
	return answer[:size], err
}

// askStream queries over a connection.
func askStream(conn net.Conn, message []byte) ([]byte, error) {
	if _, err := conn.Write(withLength(message)); err != nil {
		return nil, err
	}
	return readMessage(conn)
}
