package wire

// The statuses that berth speaks of (RFC 9110, 15; RFC 6585).
const (
	StatusOK                          = 200
	StatusAccepted                    = 202
	StatusNoContent                   = 204
	StatusBadRequest                  = 400
	StatusUnauthorized                = 401
	StatusForbidden                   = 403
	StatusNotFound                    = 404
	StatusMethodNotAllowed            = 405
	StatusNotAcceptable               = 406
	StatusRequestTimeout              = 408
	StatusConflict                    = 409
	StatusRequestEntityTooLarge       = 413
	StatusUnsupportedMediaType        = 415
	StatusUnprocessableEntity         = 422
	StatusTooManyRequests             = 429
	StatusRequestHeaderFieldsTooLarge = 431
	StatusInternalServerError         = 500
	StatusNotImplemented              = 501
	StatusBadGateway                  = 502
	StatusServiceUnavailable          = 503
	StatusGatewayTimeout              = 504
)

// RefusesCredentials reports whether a status says that credentials are not taken.
func RefusesCredentials(status int) bool {
	return status == StatusUnauthorized || status == StatusForbidden
}
