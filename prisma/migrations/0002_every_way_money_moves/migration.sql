-- CreateEnum
CREATE TYPE "DepositStatus" AS ENUM ('CREDITED', 'APPLIED', 'RETURNING', 'RETURNED');

-- DropIndex
DROP INDEX "ledger_posting_account_id_id_idx";

-- DropForeignKey
ALTER TABLE "ledger_posting" DROP CONSTRAINT "ledger_posting_account_id_fkey";

-- DropForeignKey
ALTER TABLE "ledger_posting" DROP CONSTRAINT "ledger_posting_entry_id_fkey";

-- AlterTable
ALTER TABLE "event" ADD COLUMN     "transaction_id" UUID;
UPDATE "event" SET "transaction_id" = split_part("resource_id", ':', 2)::uuid WHERE "resource_id" LIKE 'Transaction:%';

-- AlterTable
ALTER TABLE "ledger_posting" ADD COLUMN     "created_at" TIMESTAMPTZ(3);
-- Postings made before take their entry's instant.
ALTER TABLE "ledger_posting" DISABLE TRIGGER "ledger_posting_append_only";
UPDATE "ledger_posting" p SET "created_at" = e."created_at" FROM "ledger_entry" e WHERE e."id" = p."entry_id";
ALTER TABLE "ledger_posting" ENABLE TRIGGER "ledger_posting_append_only";
ALTER TABLE "ledger_posting" ALTER COLUMN "created_at" SET NOT NULL;

-- AlterTable
ALTER TABLE "transaction" ADD COLUMN     "history" JSONB;
-- Payments made before: created, executed where their quote was, and how they ended.
UPDATE "transaction" t SET "history" =
  CASE WHEN t."type" = 'OUTGOING' THEN jsonb_build_array(jsonb_build_object('status', 'PENDING', 'at', to_char(t."created_at" AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'))) ELSE '[]' END
  || coalesce((SELECT jsonb_build_array(jsonb_build_object('status', 'PROCESSING', 'at', to_char(q."executed_at" AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'))) FROM "quote" q WHERE q."id" = t."quote_id" AND q."executed_at" IS NOT NULL), '[]')
  || CASE WHEN t."status" IN ('PENDING', 'PROCESSING') THEN '[]' ELSE jsonb_build_array(jsonb_build_object('status', t."status", 'at', to_char(t."updated_at" AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'))) END;
ALTER TABLE "transaction" ALTER COLUMN "history" SET NOT NULL;

-- CreateTable
CREATE TABLE "deposit" (
    "id" UUID NOT NULL,
    "world_id" UUID NOT NULL,
    "rail_reference" TEXT NOT NULL,
    "reference" TEXT NOT NULL,
    "currency" TEXT NOT NULL,
    "amount" BIGINT NOT NULL,
    "transaction_id" UUID NOT NULL,
    "status" "DepositStatus" NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "updated_at" TIMESTAMPTZ(3) NOT NULL,
    "version" INTEGER NOT NULL,

    CONSTRAINT "deposit_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "lookup" (
    "id" UUID NOT NULL,
    "world_id" UUID NOT NULL,
    "receiver_uma_address" TEXT,
    "receiver_account_id" UUID,
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "expires_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "lookup_pkey" PRIMARY KEY ("id")
);

-- CreateIndex
CREATE INDEX "deposit_transaction_id_idx" ON "deposit"("transaction_id");

-- CreateIndex
CREATE UNIQUE INDEX "deposit_world_id_rail_reference_key" ON "deposit"("world_id", "rail_reference");

-- CreateIndex
CREATE INDEX "lookup_expires_at_idx" ON "lookup"("expires_at");

-- CreateIndex
CREATE INDEX "event_transaction_id_idx" ON "event"("transaction_id") WHERE (transaction_id IS NOT NULL);

-- CreateIndex
CREATE INDEX "ledger_posting_account_id_created_at_id_idx" ON "ledger_posting"("account_id", "created_at", "id");

-- What had come in before: one deposit for each funding.
INSERT INTO "deposit" ("id", "world_id", "rail_reference", "reference", "currency", "amount", "transaction_id", "status", "created_at", "updated_at", "version")
SELECT gen_random_uuid(), t."world_id", 'before:' || t."id", a."funding_reference", t."destination_currency", t."received_amount", t."id", 'CREDITED', t."created_at", t."updated_at", 1
FROM "transaction" t JOIN "internal_account" a ON a."id" = t."destination_account_id" WHERE t."type" = 'INCOMING';

-- Which payment moved a balance that was told of.
UPDATE "event" told SET "transaction_id" = e."transaction_id" FROM "ledger_posting" p JOIN "ledger_entry" e ON e."id" = p."entry_id"
WHERE told."type" = 'ACCOUNT_STATUS' AND told."resource_id" = 'InternalAccount:' || p."account_id"
  AND (told."payload"->'newBalance'->>'amount')::bigint = p."balance_after"
  AND (told."payload"->'oldBalance'->>'amount')::bigint = p."balance_after" - p."amount"
  AND date_trunc('second', told."created_at") = date_trunc('second', e."created_at");

-- Rows whose later states change no indexed column: room on the page lets such an update leave the indexes alone.
ALTER TABLE "transaction" SET (fillfactor = 60);
ALTER TABLE "quote" SET (fillfactor = 60);
ALTER TABLE "ledger_account" SET (fillfactor = 50);
