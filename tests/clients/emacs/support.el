;;; support.el --- What the scenarios share  -*- lexical-binding: t; -*-

;;; Commentary:

;; Waiting for what the user would see, and talking with the test that started Emacs.

;;; Code:

(require 'cl-lib)

(when (< emacs-major-version 29)
  ;; There Eglot is a package of its own, which Debian puts here.
  (setq package-directory-list '("/usr/share/emacs/site-lisp/elpa"))
  (package-initialize))
;; What waits looks at whole buffers many times a second: most of the time would be spent on collecting garbage.
(setq gc-cons-threshold (* 256 1024 1024))
;; Functions are exchanged to answer as a user would; that needs no native code for each of them.
(setq native-comp-enable-subr-trampolines nil
      native-comp-jit-compilation nil
      native-comp-deferred-compilation nil) ; Its name before Emacs 29.
(add-to-list 'load-path (getenv "AXE_EMACS"))
(require 'axe-lsp)

(defconst patience 250 "Generous, because the machine may be busy; only a failing test waits that long.")

(defun report (text)
  "Tell the test how far we have come."
  (send-string-to-terminal (concat text "\n")))

(defun shown ()
  "What this buffer shows, with the figures behind its lines."
  (let (lines)
    (save-excursion
      (goto-char (point-min))
      (while (not (eobp))
        (push (apply #'concat
                     (buffer-substring-no-properties (point) (line-end-position))
                     (mapcar (lambda (each) (substring (or (overlay-get each 'display) " ") 1))
                             (overlays-in (point) (line-end-position))))
              lines)
        (forward-line)))
    (substring-no-properties (string-join (nreverse lines) "\n"))))

(defun line ()
  "The line of point."
  (buffer-substring-no-properties (line-beginning-position) (line-end-position)))

(defun visible-lines ()
  "The lines of this buffer as the user sees them, without what is folded."
  (let (shown)
    (dotimes (index (buffer-size))
      (let ((position (+ (point-min) index)))
        (unless (invisible-p position)
          (push (char-after position) shown))))
    (split-string (concat (nreverse shown)) "\n" t)))

(defun runs-text ()
  "What the buffer of the runs says."
  (with-current-buffer (axe-lsp-runs-buffer)
    (shown)))

(defun diagnostics ()
  "Those of this buffer in their order: `code text', with the text that is marked."
  (mapcar (lambda (each)
            (let ((end (min (flymake-diagnostic-end each) (point-max)))) ; The text may be shorter now.
              (format "%s %s"
                      (plist-get (alist-get 'eglot-lsp-diag (flymake-diagnostic-data each)) :code)
                      (buffer-substring-no-properties (min (flymake-diagnostic-beg each) end) end))))
          (sort (flymake-diagnostics) (lambda (one other) (< (flymake-diagnostic-beg one)
                                                             (flymake-diagnostic-beg other))))))

(defun be-idle ()
  "Do what Emacs does when the user does nothing; in batch mode it never comes to that."
  (when (eglot-managed-p)
    (eglot--signal-textDocument/didChange)
    (flymake-start))
  (accept-process-output nil 0.02))

(defun wait-for (what see)
  "Wait until SEE returns something else than nil, and return that; WHAT is what it waits for."
  (let ((deadline (+ (float-time) patience)) seen)
    (while (not (setq seen (funcall see)))
      (when (> (float-time) deadline)
        (error "Waited in vain for %s\ndiagnostics: %S\nruns:\n%s" what (diagnostics) (runs-text)))
      (be-idle))
    seen))

(defun wait-for-diagnostics (&rest expected)
  "Wait until the diagnostics of this buffer are EXPECTED."
  (wait-for (format "the diagnostics %S" expected) (lambda () (equal (diagnostics) expected))))

(defun wait-for-log (&rest texts)
  "Wait until the buffer of the runs has all TEXTS."
  (dolist (text texts)
    (wait-for (concat "the log to say " text)
              (lambda () (string-search text (runs-text))))))

(defun open-agent ()
  "Visit the agent that the test names, as a user who follows the README."
  (add-hook 'axe-agent-mode-hook #'eglot-ensure)
  (add-hook 'axe-markdown-agent-mode-hook #'eglot-ensure)
  (find-file (getenv "AGENT"))
  (run-hooks 'post-command-hook)
  (wait-for "the server" #'eglot-managed-p))

(defun exchange (old new)
  "Edit OLD into NEW, as typing would, without saving."
  (goto-char (point-min))
  (search-forward old)
  (replace-match new t t))

(defun be-refused ()
  "Run the agent of this buffer, which is refused because nobody trusts it."
  (let (told)
    (cl-letf (((symbol-function 'message)
               (lambda (form &rest more) (push (apply #'format form more) told))))
      (axe-run "Once more")
      (wait-for "the refusal" (lambda () (cl-find "^axe: agents do not run in an untrusted workspace" told
                                                  :test #'string-match-p))))
    (cl-assert (not (string-search "Once more" (runs-text))))))

(defun play (scenario)
  "Run SCENARIO; the reason why it fails goes to standard error."
  (switch-to-buffer (get-buffer-create "*scratch*"))
  (unwind-protect
      (funcall scenario)
    (ignore-errors (eglot-shutdown-all))))

;;; support.el ends here
