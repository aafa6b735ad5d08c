-- CreateEnum
CREATE TYPE "BulkJobStatus" AS ENUM ('PENDING', 'PROCESSING', 'COMPLETED', 'FAILED');

-- CreateEnum
CREATE TYPE "InvitationStatus" AS ENUM ('PENDING', 'CLAIMED', 'CANCELLED');

-- CreateTable
CREATE TABLE "invitation" (
    "id" UUID NOT NULL,
    "world_id" UUID NOT NULL,
    "code" TEXT NOT NULL,
    "inviter_customer_id" UUID NOT NULL,
    "inviter_uma" TEXT NOT NULL,
    "invitee_uma" TEXT,
    "first_name" TEXT,
    "amount_to_send" BIGINT,
    "currency" TEXT,
    "status" "InvitationStatus" NOT NULL,
    "expires_at" TIMESTAMPTZ(3),
    "claimed_at" TIMESTAMPTZ(3),
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "updated_at" TIMESTAMPTZ(3) NOT NULL,
    "version" INTEGER NOT NULL,

    CONSTRAINT "invitation_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "link_token" (
    "id" UUID NOT NULL,
    "world_id" UUID NOT NULL,
    "customer_id" UUID NOT NULL,
    "token" TEXT NOT NULL,
    "expires_at" TIMESTAMPTZ(3) NOT NULL,
    "used_at" TIMESTAMPTZ(3),
    "account_id" TEXT,
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "updated_at" TIMESTAMPTZ(3) NOT NULL,
    "version" INTEGER NOT NULL,

    CONSTRAINT "link_token_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "bulk_job" (
    "id" UUID NOT NULL,
    "world_id" UUID NOT NULL,
    "status" "BulkJobStatus" NOT NULL,
    "total" INTEGER NOT NULL,
    "processed" INTEGER NOT NULL,
    "successful" INTEGER NOT NULL,
    "failed" INTEGER NOT NULL,
    "errors" JSONB NOT NULL,
    "completed_at" TIMESTAMPTZ(3),
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "updated_at" TIMESTAMPTZ(3) NOT NULL,
    "version" INTEGER NOT NULL,

    CONSTRAINT "bulk_job_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "bulk_row" (
    "id" UUID NOT NULL,
    "job_id" UUID NOT NULL,
    "number" INTEGER NOT NULL,
    "fields" JSONB NOT NULL,

    CONSTRAINT "bulk_row_pkey" PRIMARY KEY ("id")
);

-- CreateIndex
CREATE UNIQUE INDEX "invitation_code_key" ON "invitation"("code");

-- CreateIndex
CREATE INDEX "invitation_world_id_created_at_id_idx" ON "invitation"("world_id", "created_at", "id");

-- CreateIndex
CREATE UNIQUE INDEX "link_token_token_key" ON "link_token"("token");

-- CreateIndex
CREATE INDEX "bulk_row_job_id_number_idx" ON "bulk_row"("job_id", "number");
