;;; axe-lsp-inputs.el --- Ask for the input of an agent  -*- lexical-binding: t; -*-

;; SPDX-License-Identifier: MIT

;;; Commentary:

;; An agent with `[input]' is called with an object that fits a JSON Schema.
;; Its fields are asked for one after the other, those that are required
;; first; what is no text, number or choice is typed as JSON.

;;; Code:

(require 'axe-lsp-words)
(require 'cl-lib)
(require 'json)

(defun axe-lsp-inputs-read (schema)
  "Let the user give an input that fits SCHEMA, a plist; gives a hash table."
  (let ((input (make-hash-table :test 'equal))
        (fields (plist-get schema :properties)))
    (if fields
        (dolist (name (axe-lsp-inputs--names schema))
          (let* ((is-required (cl-find name (plist-get schema :required) :test #'equal))
                 (field (plist-get fields (intern (concat ":" name))))
                 (value (axe-lsp-inputs--read-field name field is-required)))
            (unless (eq value 'none)
              (puthash name value input))))
      (setq input (json-parse-string (read-string "Input (JSON): " "{}"))))
    input))

(defun axe-lsp-inputs--names (schema)
  "The fields of SCHEMA: those that are required in their order, then the others."
  (let ((required (append (plist-get schema :required) nil))
        (all (cl-loop for (name) on (plist-get schema :properties) by #'cddr
                      collect (substring (symbol-name name) 1))))
    (append required (sort (cl-set-difference all required :test #'equal) #'string<))))

(defun axe-lsp-inputs--read-field (name field is-required)
  "Let the user give the FIELD called NAME; `none' if there is to be no value.
It must have one if IS-REQUIRED."
  (let* ((type (plist-get field :type))
         (about (plist-get field :description))
         (prompt (concat (axe-lsp-words-shorten name)
                         (if about (format " (%s)" (axe-lsp-words-shorten about)) "")
                         (if is-required ": " ", may be empty: ")))
         (choices (append (plist-get field :enum) nil))
         (text (cond (choices (completing-read prompt (mapcar #'axe-lsp-inputs--text choices) nil is-required))
                     ((equal type "boolean") (completing-read prompt '("true" "false") nil t))
                     (t (read-string prompt (and (plist-member field :default)
                                                 (axe-lsp-inputs--text (plist-get field :default))))))))
    (cond ((and (equal text "") (not is-required)) 'none)
          (choices (or (cl-find text choices :key #'axe-lsp-inputs--text :test #'equal) text))
          ((equal type "string") text)
          (t (axe-lsp-inputs--parse text)))))

(defun axe-lsp-inputs--text (value)
  "VALUE as the user types it."
  (if (stringp value) value (json-encode value)))

(defun axe-lsp-inputs--parse (text)
  "The value that TEXT is in JSON; what is none stays a text.
The server says then what is wrong with it."
  (condition-case nil
      (json-parse-string text :false-object :json-false :null-object nil)
    (json-parse-error text)))

(provide 'axe-lsp-inputs)
;;; axe-lsp-inputs.el ends here
