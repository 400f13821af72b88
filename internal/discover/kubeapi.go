package discover

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"strconv"
	"strings"
	"time"

	"berth/internal/filetext"
	"berth/internal/reload"
)

const (
	listTimeout  = 30 * time.Second
	kubeLimit    = 500      // EndpointSlices of one page; each has up to 100 endpoints
	maxKubePage  = 64 << 20 // bytes
	maxKubeToken = 64 << 10 // bytes
)

// kubeAPI asks an API server about the EndpointSlices of one service.
type kubeAPI struct {
	url       *url.URL // of the EndpointSlices of the namespace
	selector  string
	tokenFile string
	client    *http.Client
}

// Judge reads the files that the options name. It asks nobody, and its error joins all that is wrong, each a [reload.Error] whose
// key is the option's, as in token_file.
func (k *Kubernetes) Judge() error {
	_, badNamespace := k.namespace()
	_, badCA := k.authorities()
	var badToken error
	if k.o.TokenFile != "" {
		_, badToken = readToken(k.o.TokenFile)
	}
	var all []error
	for _, file := range []reload.Error{{Key: "namespace", Err: badNamespace}, {Key: "token_file", Err: badToken}, {Key: "ca_file", Err: badCA}} {
		if file.Err != nil {
			all = append(all, &file)
		}
	}
	return reload.Join(all...)
}

func (k *Kubernetes) newAPI() (*kubeAPI, error) {
	namespace, err := k.namespace()
	if err != nil {
		return nil, err
	}
	base, err := url.Parse(k.o.API)
	if err != nil {
		return nil, errors.New("the API server's address must be a URL")
	}
	authorities, err := k.authorities()
	if err != nil {
		return nil, err
	}
	dialer := &net.Dialer{ // a connection that died in silence is noticed, since a watch may hear nothing for long
		Timeout:         5 * time.Second,
		KeepAliveConfig: net.KeepAliveConfig{Enable: true, Idle: 15 * time.Second, Interval: 5 * time.Second, Count: 3},
	}
	return &kubeAPI{
		url:       base.JoinPath("apis/discovery.k8s.io/v1/namespaces", namespace, "endpointslices"),
		selector:  "kubernetes.io/service-name=" + k.o.Service,
		tokenFile: k.o.TokenFile,
		client: &http.Client{
			Transport: &http.Transport{
				DialContext:           dialer.DialContext,
				TLSClientConfig:       &tls.Config{RootCAs: authorities, MinVersion: tls.VersionTLS12},
				TLSHandshakeTimeout:   5 * time.Second,
				ResponseHeaderTimeout: listTimeout,
			},
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }, // the token is for this server
		},
	}, nil
}

func (a *kubeAPI) close() { a.client.CloseIdleConnections() }

func (k *Kubernetes) namespace() (string, error) {
	if k.o.Namespace != "" {
		return k.o.Namespace, nil
	}
	namespace, err := readSmall(k.o.NamespaceFile)
	if err != nil {
		return "", fmt.Errorf("reading berth's namespace: %w", err)
	}
	return namespace, nil
}

func (k *Kubernetes) authorities() (*x509.CertPool, error) {
	if k.o.CAFile == "" {
		return nil, nil
	}
	pem, err := os.ReadFile(k.o.CAFile)
	pool := x509.NewCertPool()
	if err == nil && !pool.AppendCertsFromPEM(filetext.Of(pem)) {
		err = fmt.Errorf("%s holds no certificate", k.o.CAFile)
	}
	if err != nil {
		return nil, fmt.Errorf("reading the API server's authorities: %w", err)
	}
	return pool, nil
}

// get sends one request and returns the body of its answer, which is 200.
func (a *kubeAPI) get(ctx context.Context, query url.Values) (io.ReadCloser, error) {
	query.Set("labelSelector", a.selector)
	target := *a.url
	target.RawQuery = query.Encode()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, target.String(), nil)
	if err != nil {
		return nil, err
	}
	request.Header.Set("Accept", "application/json")
	request.Header.Set("User-Agent", "berth")
	if a.tokenFile != "" {
		token, err := readToken(a.tokenFile)
		if err != nil {
			return nil, err
		}
		request.Header.Set("Authorization", "Bearer "+token)
	}
	response, err := a.client.Do(request)
	if err != nil {
		if inner, ok := errors.AsType[*url.Error](err); ok { // its text would repeat the URL
			err = inner.Err
		}
		return nil, err
	}
	if response.StatusCode != http.StatusOK {
		defer response.Body.Close()
		return nil, refused(response)
	}
	return response.Body, nil
}

// kubeStatus is the Status of an API server, as far as berth reads it.
type kubeStatus struct {
	Code    int    `json:"code"`
	Message string `json:"message"`
}

func (s kubeStatus) err() error {
	if s.Code == http.StatusGone {
		return errExpired
	}
	return fmt.Errorf("HTTP %d: %.300s", s.Code, s.Message)
}

// laterError is an answer that says when to ask again.
type laterError struct {
	error
	after time.Duration
}

func (e *laterError) Unwrap() error { return e.error }

// maxLater bounds what an API server may say: one that is well again is not to be left alone for hours.
const maxLater = 10 * time.Minute

// later is err with what an answer says of when to ask again, in seconds: an API server says no dates.
func later(response *http.Response, err error) error {
	seconds, bad := strconv.ParseUint(response.Header.Get("Retry-After"), 10, 31)
	if bad != nil || response.StatusCode != http.StatusTooManyRequests && response.StatusCode/100 != 5 {
		return err
	}
	return &laterError{err, min(time.Duration(seconds)*time.Second, maxLater)}
}

func refused(response *http.Response) error {
	var status kubeStatus
	if json.NewDecoder(io.LimitReader(response.Body, 64<<10)).Decode(&status) != nil || status.Message == "" {
		status.Message = http.StatusText(response.StatusCode)
	}
	status.Code = response.StatusCode
	return later(response, status.err())
}

func readToken(path string) (string, error) {
	token, err := readSmall(path)
	if err != nil {
		return "", fmt.Errorf("reading the token: %w", err)
	}
	return token, nil
}

func readSmall(path string) (string, error) {
	file, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer file.Close()
	content, err := io.ReadAll(io.LimitReader(file, maxKubeToken+1))
	if err == nil && len(content) > maxKubeToken {
		err = fmt.Errorf("%s is larger than %d bytes", path, maxKubeToken)
	}
	text := filetext.Word(content)
	if err == nil && (text == "" || strings.ContainsAny(text, "\r\n")) {
		err = fmt.Errorf("%s must hold one line", path)
	}
	return text, err
}
